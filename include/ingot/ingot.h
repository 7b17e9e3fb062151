// SPDX-License-Identifier: Apache-2.0
// Ingot's C++ interface. A program builds a graph or reads a spec, compiles it, prepares its params
// and launches it on device memory. The interface needs C++20 and the standard library alone. It
// works with exceptions and without.
#pragma once

#include "ingot/status.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace ingot {

/// The library's version, e.g. "0.1.0".
const char* version();

// ---- Graphs -------------------------------------------------------------------------------------

enum class ElementType : uint8_t { f32, f16, bf16, i32, i64, boolean };

// Conversions to the types below are implicit, so that a call may pass plain values, numbers and
// names.
// NOLINTBEGIN(google-explicit-constructor)

/// One extent of a shape: a number, or a named dimension whose size is known at launch.
class Extent {
public:
  Extent(int64_t value) : value_(value) {}
  Extent(int value) : value_(value) {}
  Extent(const char* name) : is_named_(true), name_(name) {}
  Extent(std::string name) : is_named_(true), name_(std::move(name)) {}

  bool is_named() const { return is_named_; }
  int64_t value() const { return value_; }
  const std::string& name() const { return name_; }

private:
  int64_t value_ = -1;
  bool is_named_ = false;
  std::string name_;
};

using Extents = std::vector<Extent>;

/// A tensor or a value as a graph declares it.
struct TensorSpec {
  std::string name; ///< empty for a value of a builder
  ElementType type = ElementType::f32;
  Extents shape; ///< products of named dimensions appear as text, e.g. "4*m"
};

class GraphBuilder;

/// A value of a graph under construction. It is a handle; copies are cheap. The functions on it are
/// in ingot/ops.h and the headers that ops.h names. A Var must not outlive its builder. After an
/// error of the builder, functions on its values do nothing.
class Var {
public:
  Var() = default;
  GraphBuilder* builder() const { return builder_; }
  /// The result of operator `name` when no builder made its operand. A later error message names
  /// this operator.
  static Var of_no_graph(const Var& operand, const char* name) {
    Var result = operand;
    if (!result.lost_at_) result.lost_at_ = name;
    return result;
  }

private:
  friend class GraphBuilder;
  Var(GraphBuilder* builder, uint32_t id) : builder_(builder), id_(id) {}
  GraphBuilder* builder_ = nullptr;
  uint32_t id_ = UINT32_MAX;
  const char* lost_at_ = nullptr; ///< the first operator whose operand belonged to no builder
};

/// An argument of an operator, given by position or by name.
struct Arg {
  struct Absent {};
  using List = std::vector<Arg>;
  std::variant<Absent, Var, int64_t, double, bool, ElementType, Extent, std::string, List> value;

  Arg() = default;
  Arg(Var v) : value(v) {}
  Arg(int v) : value(int64_t{v}) {}
  Arg(int64_t v) : value(v) {}
  Arg(double v) : value(v) {}
  Arg(bool v) : value(v) {}
  Arg(ElementType v) : value(v) {}
  Arg(Extent v) : value(std::move(v)) {}
  Arg(const char* v) : value(std::string(v)) {}
  Arg(std::string v) : value(std::move(v)) {}
  Arg(List v) : value(std::move(v)) {}
  template <typename T> Arg(const std::optional<T>& v) {
    if (v) *this = Arg(*v);
  }
  /// A list of integers, extents or values.
  template <typename T> Arg(const std::vector<T>& list) : value(List(list.begin(), list.end())) {}
};

// NOLINTEND(google-explicit-constructor)

struct NamedArg {
  std::string name;
  Arg value;
};

/// A finished graph: immutable, cheap to copy, safe to share between threads.
class GraphSpec {
public:
  /// The graph in the text language, in its canonical primitive form. parse() reads it back.
  std::string text() const;
  const std::string& name() const;
  /// Warnings about a spec that was parsed: inputs and values that no result needs, comments that
  /// look like code. Each is a text of `file:line:column: warning: ...`, the line and a caret.
  const std::vector<std::string>& warnings() const;

  /// The tensors in the order of their declarations.
  const std::vector<TensorSpec>& inputs() const;
  const std::vector<TensorSpec>& params() const;
  const std::vector<TensorSpec>& outputs() const;

  struct State;
  explicit GraphSpec(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

private:
  std::shared_ptr<const State> state_;
};

/// Reads one graph spec. Diagnostics call it `file_name`. The message of an error lists every
/// mistake, at most 20.
Result<GraphSpec> parse(std::string_view text, std::string_view file_name = "<spec>");

/// Reads one graph spec from a file.
Result<GraphSpec> parse_file(const std::string& path);

/// Appends operators to a graph. The first error stays until finish() returns it, so calls before
/// finish() need no check. forget_error() clears it. A builder is not thread-safe. It can neither
/// be copied nor moved, because values point to it.
class GraphBuilder {
public:
  explicit GraphBuilder(std::string name);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  /// A tensor that every launch receives. Names are identifiers and are used once.
  Var input(const std::string& name, ElementType type, const Extents& shape);
  /// A tensor that outlives launches. prepare() computes all values that depend on params alone, so
  /// call it again after writing to a param.
  Var param(const std::string& name, ElementType type, const Extents& shape);
  /// A scalar.
  Var constant(ElementType type, double value);

  /// Appends any operator of the text language by its name, e.g. `call("group_norm", {x, gamma,
  /// beta}, {{"groups", 32}})`. Returns its first result.
  Var call(const std::string& name, const std::vector<Arg>& arguments,
           const std::vector<NamedArg>& named = {});
  /// Appends an operator that has several results.
  std::vector<Var> call_all(const std::string& name, const std::vector<Arg>& arguments,
                            const std::vector<NamedArg>& named = {});

  /// `x[items]` of the text language. An item is a position, a range `Arg::List{start, stop, step}`
  /// with optional parts (Arg()), a new axis (Arg()), or the text "...".
  Var index(Var x, const std::vector<Arg>& items);
  /// This overload exists because one range between braces would otherwise be the vector of items.
  Var index(Var x, std::initializer_list<Arg> items) { return index(x, std::vector<Arg>(items)); }

  /// Declares a result. Its name differs from the names of all inputs and other outputs.
  void output(const std::string& name, Var value);

  /// The type as text, e.g. `f32[1024, m]`; empty after an error.
  std::string type_of(Var value) const;
  /// The element type and the shape of a value of this builder.
  Result<TensorSpec> describe(Var value) const;
  /// The first error so far. The object lives as long as the builder.
  const Status& status() const;
  /// Clears the error. The graph is as it was before the failed call. That call and the calls after
  /// it added nothing; their results are not values of the graph. An error in the graph's name
  /// stays.
  void forget_error();

  /// The graph built so far, or the first error. A graph needs at least one output.
  Result<GraphSpec> finish() const;

private:
  struct State;
  struct ArgumentReader;
  std::unique_ptr<State> state_;
};

/// All functions of the text language as a JSON array, ordered by name. Each has a "name", a
/// "summary" (empty for elementwise primitives) and "parameters". Each parameter has a "name", a
/// "kind" (tensor, tensors, number, integer, boolean, text, dtype, axis, axes, ints or dims) and,
/// unless it is required, a "default". The default is null where the argument may be left out.
Result<std::string> functions();

// ---- Compiling ----------------------------------------------------------------------------------

/// The accuracy of a matmul of f32 operands. f16 and bf16 operands always accumulate in f32.
enum class Precision : uint8_t {
  pedantic, ///< plain FMA in f32
  highest,  ///< componentwise error at most 2^-20 (|A||B|) for every finite input
  high,     ///< TF32's error
  medium,   ///< bf16 operands, accumulation in f32
};

/// Which rewrites the compiler may apply.
enum class Math : uint8_t {
  strict,  ///< only rewrites that keep every bit
  relaxed, ///< also reassociation
  finite,  ///< also rewrites that hold for finite values only
};

struct Options {
  /// GPU family of instructions: sm_80, or sm_90a for Hopper alone. Empty: launches use the best of
  /// the card that is present, and Program::code uses sm_80.
  std::string target = {};
  /// The card that schedules are chosen for: a100, h100, h200, or native for the one present. Empty
  /// means native where there is a GPU, else the flagship of the family.
  std::string device = {};
  Precision precision = Precision::highest;
  Math math = Math::relaxed;
};

/// The size of a named dimension (least == most), or a range of sizes.
struct DimRange {
  std::string name;
  int64_t least = 0;
  int64_t most = 0;
};

/// Device memory that the caller provides. Every pointer must be aligned to 256 bytes.
struct MemoryNeeds {
  int64_t prepared = 0;  ///< bytes per parameter set, read-only after prepare
  int64_t workspace = 0; ///< bytes per launch in flight, undefined on entry
  int64_t state = 0;     ///< bytes per launch in flight, zeroed once by the caller
};

/// A dense row-major tensor, in device memory. For `reference` it is in host memory. Without
/// extents it has the shape of the graph's declaration, which then must have no named dimension.
/// The extents must outlive the call.
struct TensorView {
  void* data = nullptr;
  std::optional<std::span<const int64_t>> extents = std::nullopt;
};

/// Tensors stand in the order of the graph's declarations. `stream` is a CUstream; null is the
/// default stream.
struct PrepareArguments {
  std::span<const TensorView> params = {};
  void* prepared = nullptr;
  void* workspace = nullptr;
  void* stream = nullptr;
  std::span<const DimRange> dims = {}; ///< sizes of later launches; others may be any
};

struct LaunchArguments {
  std::span<const TensorView> inputs = {};
  std::span<const TensorView> params = {}; ///< the params given to prepare
  std::span<const TensorView> outputs = {};
  void* prepared = nullptr;
  void* workspace = nullptr;
  void* state = nullptr;
  void* stream = nullptr;
};

enum class CodeFormat : uint8_t { ptx, cubin, cuda, torch };

/// The code of all kernels in one file, and the JSON manifest that describes the launches
/// (docs/manifest.schema.json).
struct Code {
  std::string bytes;
  std::string manifest;
};

/// The role of a tensor in a graph.
enum class Role : uint8_t { input, param, output };

/// A compiled graph. Thread-safe; move-only.
class Program {
public:
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  const std::vector<TensorSpec>& inputs() const;
  const std::vector<TensorSpec>& params() const;
  const std::vector<TensorSpec>& outputs() const;
  /// The extents of tensor `index` of a role. `dims` gives one size (least) for each named
  /// dimension of its shape.
  Result<std::vector<int64_t>> shape(Role role, size_t index,
                                     std::span<const DimRange> dims = {}) const;
  /// Number of kernels per launch. For a bundle that is not prepared: the number for its first
  /// card.
  int num_kernels() const;

  /// An upper bound of the memory that launches with these sizes need. Needs no GPU. A named
  /// dimension that is not listed may have any size; then there may be no bound. Sizes at which a
  /// tensor has 2^63 bytes or more are an error. For a bundle that is not prepared on the current
  /// device, the bound is the maximum over all its cards, which is enough on any of them.
  Result<MemoryNeeds> memory(std::span<const DimRange> dims = {}) const;

  /// Code and manifest. PTX is for the family, a cubin for the device. Both need NVRTC. CUDA is
  /// source for nvcc, and torch is a Python file that calls the chain from PyTorch
  /// (docs/standalone.md); neither needs NVRTC. Without a named family the code is for sm_80, also
  /// where launches use another family: then each call compiles the graph again. A bundle returns
  /// its stored PTX or cubin for the card; it has no source.
  Result<Code> code(CodeFormat format) const;

  /// Compiles and loads the kernels that the sizes need, on the device of the current CUDA context.
  /// Then enqueues the computation of prepared memory. Call it again after writing to a param, and
  /// for another parameter set, further sizes or another device.
  Status prepare(const PrepareArguments& arguments);

  /// Checks the arguments and enqueues the kernels. It compiles, allocates and waits for nothing,
  /// and may be captured in a CUDA graph. Two exceptions: the first launch with a tensor that does
  /// not start at a multiple of 16 bytes may compile kernels for it, so launch it once before a
  /// capture; and a fifth launch of one program at the same time allocates. Outputs may overlap
  /// neither each other nor anything else.
  Status launch(const LaunchArguments& arguments) const;

  struct State;
  explicit Program(std::unique_ptr<State> state);

private:
  std::unique_ptr<State> state_;
};

/// Runs all phases of the compiler but the last. prepare() and code() compile kernels to machine
/// code and keep them in the cache that `ingot cache path` shows. INGOT_DUMP works as on the
/// command line.
Result<Program> compile(const GraphSpec& graph, const Options& options = {});

enum class ExplainFormat : uint8_t { text, json, dot, svg };

/// The report of `ingot explain`: the kernels of a graph, their stored values and memory traffic,
/// and why each kernel ends where it does. The format is text, JSON with the same facts, or a
/// drawing. Figures use the given sizes of named dimensions (least == most), and a typical size for
/// a dimension that is not given. Needs neither a GPU nor NVRTC.
Result<std::string> explain(const GraphSpec& graph, const Options& options = {},
                            ExplainFormat format = ExplainFormat::text,
                            std::span<const DimRange> dims = {});

/// Receives the library's warnings. The only warning so far is about a cache that cannot be used.
/// Any thread may call the handler, and a replaced handler may be called one last time. Without a
/// handler the library drops warnings. A new handler affects later compiles.
void set_warning_handler(std::function<void(const std::string&)> handler);

// ---- Reference runs -----------------------------------------------------------------------------

/// A dense row-major tensor in host memory that the library allocated. A 16-bit float is stored as
/// its bits.
struct HostTensor {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<int64_t> extents;
  std::string bytes;
};

/// The outputs of a graph for tensors in host memory, as `ingot run --on=reference` computes them.
/// It computes in f64 (integers exactly) and rounds once to the types of the outputs. Named
/// dimensions get their sizes from the extents. It is slow and exact; tests compare kernels with
/// it. Needs no GPU.
Result<std::vector<HostTensor>> reference(const GraphSpec& graph,
                                          std::span<const TensorView> inputs,
                                          std::span<const TensorView> params = {});

// ---- Bundles ------------------------------------------------------------------------------------

/// Compiles a graph ahead of time into the bytes of one file (docs/bundles.md). For each card the
/// file holds a manifest, machine code, and PTX for GPUs that its machine code does not fit.
/// `options.device` is a list such as "a100,h100"; empty means the named cards that run the target.
/// Needs NVRTC and no GPU. The same graph gives the same bytes.
Result<std::string> bundle(const GraphSpec& graph, const Options& options = {});

/// Loads a program from the bytes of a bundle and keeps a copy of them. No compiler runs and NVRTC
/// is not loaded. prepare() loads the code that fits the GPU of the current context, or returns
/// StatusCode::unsupported where none fits. Diagnostics call the bundle `file_name`. Errors:
/// parse_error for bytes that are no bundle or a damaged one, unsupported for a bundle of a newer
/// version.
Result<Program> load_bundle(std::string_view bytes, std::string_view file_name = "<bundle>");

/// Loads a program from a bundle file.
Result<Program> load_bundle_file(const std::string& path);

// ---- Device memory, for programs without a framework -------------------------------------------

/// The primary context of one GPU, current in the thread that opened it, with its memory. Needs
/// only the driver.
class Gpu {
public:
  /// StatusCode::unavailable without a driver or without that GPU.
  static Result<Gpu> open(int ordinal = 0);
  Gpu(Gpu&&) noexcept;
  Gpu& operator=(Gpu&&) noexcept;
  ~Gpu();

  const std::string& name() const;
  /// Allocates zeroed memory, aligned to 256 bytes. This object frees it. 0 bytes give null.
  Result<void*> allocate(int64_t bytes);
  /// Copies and waits for the copy.
  Status copy_to_device(void* to, const void* from, int64_t bytes);
  Status copy_to_host(void* to, const void* from, int64_t bytes);
  /// Waits for the default stream and the work before it. Returns the error of any failed kernel or
  /// copy.
  Status synchronize();

private:
  struct State;
  explicit Gpu(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace ingot
#pragma GCC visibility pop

#include "ingot/losses.h"
#include "ingot/movement.h"
#include "ingot/ops.h"
