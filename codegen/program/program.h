// SPDX-License-Identifier: Apache-2.0
// The plain-data result of code generation: kernels with their variants, and the two programs
// (prepare and launch) that run them. codegen/ makes it, runtime/ executes it, and the manifest is
// its JSON form.
#pragma once

#include "src/support/dtype.h"
#include "src/support/expr.h"

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// Limits on the numbers of a module, far above those that compiles need.
inline constexpr int64_t kMostAlignment = 256; ///< alignment of every memory, promised by callers
inline constexpr int kMostExprStack = 64;      ///< pending values while an expression is evaluated
/// Of a variant: the operands of 23 products in a row. A map takes 128 bytes of a launch's 4 KB.
inline constexpr size_t kMostTensorMaps = 24;
inline constexpr int64_t kMostBoxExtent = 256; ///< CUDA's limit on each extent of a box

/// The value of a kernel parameter: 8 bytes with a device pointer or an int64, or a tensor map.
enum class ArgumentKind : uint8_t {
  input,     ///< pointer to the graph input `name`
  output,    ///< pointer to the graph output `name`
  param,     ///< pointer to the graph param `name`
  prepared,  ///< prepared memory + `offset` bytes
  workspace, ///< workspace memory + `offset` bytes
  state,     ///< state memory + `offset` bytes
  dim,       ///< int64, the value of `value` (an expression over named dims)
  tensormap, ///< 128 bytes, the tensor map of `map` (sm_90a)
};

/// True for a pointer to a tensor of the caller.
inline bool is_callers(ArgumentKind kind) {
  return kind == ArgumentKind::input || kind == ArgumentKind::output || kind == ArgumentKind::param;
}

/// The elements of a mapped tensor in shared memory. `tf32`: copies round f32 to nearest TF32, ties
/// to even (CU_TENSOR_MAP_DATA_TYPE_TFLOAT32).
enum class MapType : uint8_t { f16, bf16, f32, tf32 };

/// A tensor of three dims as copies to shared memory read it (cuTensorMapEncodeTiled): the
/// innermost dim first, elements outside of it zero, lines of 128 bytes swizzled.
struct TensorMap {
  uint32_t argument = 0; ///< index of the variant's argument with the tensor's pointer
  MapType type = MapType::f16;
  std::array<Expr, 3> extents;  ///< in elements
  std::array<Expr, 2> strides;  ///< bytes of a step along the last two dims, multiples of 16
  std::array<int64_t, 3> box{}; ///< elements of one copy, at most 256 along each dim
};

/// True for an argument with the address of a tensor or a memory.
inline bool is_pointer(ArgumentKind kind) {
  return kind != ArgumentKind::dim && kind != ArgumentKind::tensormap;
}

struct Argument {
  ArgumentKind kind = ArgumentKind::input;
  std::string name; ///< input, output, param: the tensor. dim: its name in the source.
  /// prepared, workspace, state: bytes from the base of the buffer; tensormap: bytes from the
  /// pointer; 0 otherwise.
  Expr offset;
  Expr value;    ///< dim: the value passed
  TensorMap map; ///< tensormap
};

/// One condition of a variant. A launch takes the variant only if all its conditions hold.
enum class PredicateKind : uint8_t {
  divisible, ///< value % number == 0
  aligned,   ///< the pointer bound to argument `argument` is a multiple of `number` bytes
};

struct Predicate {
  PredicateKind kind = PredicateKind::divisible;
  Expr value;            ///< unused for aligned
  uint32_t argument = 0; ///< index into the variant's arguments; aligned only
  int64_t number = 1;
  friend bool operator==(const Predicate&, const Predicate&) = default;
};

/// The launch of one variant. Grid, block and shared memory are expressions over named dims.
struct LaunchShape {
  std::array<Expr, 3> grid;
  std::array<Expr, 3> block;
  Expr shared_bytes;
  /// Kernels with clusters loop over their work along x: a launch may start fewer clusters, and
  /// should start no more than run at once.
  std::array<int64_t, 3> cluster = {1, 1, 1};
  int64_t max_threads = 0; ///< the __launch_bounds__ in the source
  int64_t min_blocks_per_sm = 1;
};

/// One compilable form of a kernel.
struct KernelVariant {
  std::string entry;                 ///< the extern "C" name; kernels of equal code share it
  std::vector<std::string> includes; ///< device headers by path, e.g. "kernels/held.cuh"
  std::string body;                  ///< CUDA C++ behind the kernel's: numbers and `entry`
  std::vector<Predicate> when;       ///< empty: always applies (last variant of a kernel)
  LaunchShape launch;
  std::vector<Argument> arguments;
  std::string schedule; ///< the schedule's stable text form, for dumps and explain
};

/// A kernel as text: `body` for all variants, and the rest of each variant. Comments stand on lines
/// of their own. Names of graphs and values occur only in comments.
struct KernelCode {
  std::string name;
  std::vector<std::string> ops; ///< the kernel's ops in the text language, one per line
  std::string space;            ///< the namespace of its code; kernels of equal code share it
  std::string body;             ///< CUDA C++ behind the includes
  std::vector<KernelVariant> variants;
};

/// A launch of a kernel.
struct Step {
  uint32_t kernel = 0; ///< index into Module::kernels
};

struct ProgramSteps {
  std::vector<Step> steps;
};

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Expr> shape;
  int64_t alignment = 1; ///< minimum alignment of the pointer in bytes: the element size
};

struct MemoryInfo {
  Expr bytes;
  int64_t alignment = kMostAlignment;
};

/// A named dimension, with the value or range that the caller declared.
struct DimInfo {
  std::string name;
  int64_t least = 0;
  int64_t most = INT64_MAX;
};

/// All data needed to compile and launch one graph. It has no pointer into the graph.
struct Module {
  std::string name;      ///< the name of the graph
  std::string family;    ///< sm_80
  std::string arch;      ///< the architecture of the machine code: sm_80, sm_90
  bool overlaps = false; ///< a kernel's blocks may start while the kernel before it runs
  std::vector<DimInfo> dims;
  std::vector<Expr> requirements; ///< expressions that must be at least 0 in every launch
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> params;
  std::vector<TensorInfo> outputs;
  std::vector<KernelCode> kernels;
  ProgramSteps prepare;
  ProgramSteps launch;
  MemoryInfo prepared;
  MemoryInfo workspace;
  MemoryInfo state;
};

/// The reason why `expr` must be at least 0. It is `input 'x', dimension 0` for an extent of an
/// input, or a tensor that the module does not name.
std::string needed_by(const Module& module, const Expr& expr);

/// A variant, and the kernel whose code it continues.
struct VariantRef {
  const KernelCode* kernel = nullptr;
  const KernelVariant* variant = nullptr;
};

/// Code without its comments. It works on generated code only, where no string contains `//`.
std::string without_comments(llvm::StringRef code);

/// The translation unit of one variant, as the JIT compiles it: `#include` lines, then the code. It
/// has no comments, so that kernels with equal code give equal units.
std::string variant_source(const KernelCode& kernel, const KernelVariant& variant);

/// The variants of all kernels. Kernels with equal code share theirs.
std::vector<VariantRef> variants_of(const Module& module);

/// One translation unit with every variant of every kernel, as --emit writes it. Includes stand
/// once at the top. Kernels with equal code appear once, in a namespace of their own.
std::string module_source(const Module& module);
std::string kernels_source(llvm::ArrayRef<const KernelCode*> kernels);

} // namespace ingot
