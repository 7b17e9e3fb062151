// SPDX-License-Identifier: Apache-2.0
// Ingot's C++ interface: build a graph or read a spec, compile it, prepare its params, launch it on
// device memory. Needs C++20 and the standard library alone; works with exceptions or without.
#pragma once

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

// ---- Errors -------------------------------------------------------------------------------------

enum class StatusCode : int {
  ok = 0,
  invalid_argument, ///< what the caller gave is wrong
  parse_error,      ///< a spec (the message holds file:line:column) or a bundle does not read
  type_error,       ///< operands do not fit together
  unsupported,      ///< legal, but this version has no kernel for it
  unavailable,      ///< the machine lacks something: a GPU, the driver, NVRTC
  io_error,         ///< a file cannot be read or written
  compile_error,    ///< NVRTC refused generated code
  launch_error,     ///< the driver refused a load or a launch
  internal,         ///< a bug in Ingot
  not_prepared,     ///< a launch of sizes, params or a device that prepare has not seen
  /// The process got no more memory. Nothing of the call is kept. To a builder it is an error like
  /// any other.
  out_of_memory,
};

/// Success, or what went wrong. Functions that give a Status or a Result throw nothing; the others,
/// and copies, throw std::bad_alloc where memory ends. The library neither prints nor ends the
/// process.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  /// Success, which lives as long as the library.
  static const Status& success();

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  /// What, where, what was expected, what was given; empty on success.
  const std::string& message() const { return message_; }

private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

// Conversions to the types below are implicit, so that values, numbers and names read as what they
// are in calls.
// NOLINTBEGIN(google-explicit-constructor)

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::move(value)) {}
  Result(Status status) : state_(std::move(status)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  /// The status; success when there is a value.
  const Status& status() const& { return ok() ? Status::success() : std::get<Status>(state_); }
  Status status() && { return ok() ? Status() : std::move(std::get<Status>(state_)); }
  /// The value. Asking a failed result is a mistake of the caller that ends the process.
  T& operator*() & { return *get(); }
  const T& operator*() const& { return *const_cast<Result*>(this)->get(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return const_cast<Result*>(this)->get(); }

private:
  T* get() {
    T* value = std::get_if<T>(&state_);
    if (!value) __builtin_trap();
    return value;
  }
  std::variant<T, Status> state_;
};

// ---- Graphs -------------------------------------------------------------------------------------

enum class ElementType : uint8_t { f32, f16, bf16, i32, i64, boolean };

/// One extent of a shape: a number, or a named dimension that is known at launch.
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

/// A value of a graph under construction, a handle to copy freely. ingot/ops.h and what
/// it names have the functions on it. Must not outlive its builder. After an error of the builder
/// every function on it does nothing.
class Var {
public:
  Var() = default;
  GraphBuilder* builder() const { return builder_; }
  /// What operator `name` gives for an operand that no builder made; who uses it hears of `name`.
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
  const char* lost_at_ = nullptr; ///< the first operator that was given a value of no builder
};

/// What an operator may be given, by position or by name.
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
  /// The graph in the text language, in its canonical primitive form; parse reads it back.
  std::string text() const;
  const std::string& name() const;
  /// What a spec that was read may not mean, each a text of `file:line:column: warning: ...`, the
  /// line and a caret: inputs and values that no result needs, comments that read as code.
  const std::vector<std::string>& warnings() const;

  /// The tensors in the order in which the graph declares them.
  const std::vector<TensorSpec>& inputs() const;
  const std::vector<TensorSpec>& params() const;
  const std::vector<TensorSpec>& outputs() const;

  struct State;
  explicit GraphSpec(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

private:
  std::shared_ptr<const State> state_;
};

/// Reads one graph spec. `file_name` is what diagnostics call it. The message of an error holds
/// every mistake, at most 20.
Result<GraphSpec> parse(std::string_view text, std::string_view file_name = "<spec>");

/// Reads one graph spec from a file.
Result<GraphSpec> parse_file(const std::string& path);

/// Appends operators to a graph. The first mistake sticks and is what finish() reports, so that a
/// model reads without a check on every line; forget_error() goes on after it. Not thread-safe; can
/// neither be copied nor moved, since values point to it.
class GraphBuilder {
public:
  explicit GraphBuilder(std::string name);
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  /// A tensor that each launch is given. Names are identifiers, used once.
  Var input(const std::string& name, ElementType type, const Extents& shape);
  /// A tensor that outlives launches: what depends on params alone is computed by prepare, so after
  /// writing to a param, prepare again.
  Var param(const std::string& name, ElementType type, const Extents& shape);
  /// A scalar.
  Var constant(ElementType type, double value);

  /// Any operator of the text language by its name, e.g.
  /// `call("group_norm", {x, gamma, beta}, {{"groups", 32}})`. The first result.
  Var call(const std::string& name, const std::vector<Arg>& arguments,
           const std::vector<NamedArg>& named = {});
  /// The same for operators with several results.
  std::vector<Var> call_all(const std::string& name, const std::vector<Arg>& arguments,
                            const std::vector<NamedArg>& named = {});

  /// `x[items]` of the text language. An item is a position, a range `Arg::List{start, stop, step}`
  /// whose parts may be left out (Arg()), a new axis (Arg()), or the text "...".
  Var index(Var x, const std::vector<Arg>& items);
  /// With braces: one range between them would else be taken for the vector of items.
  Var index(Var x, std::initializer_list<Arg> items) { return index(x, std::vector<Arg>(items)); }

  /// Declares a result. Names are those of no input and no other output.
  void output(const std::string& name, Var value);

  /// `f32[1024, m]`; empty after an error.
  std::string type_of(Var value) const;
  /// The element type and the shape of a value of this builder.
  Result<TensorSpec> describe(Var value) const;
  /// The first error so far; it lives as long as the builder.
  const Status& status() const;
  /// Clears the error. The graph is as it was before the call that made the error; that call and
  /// those after it added nothing, and their results are no values of the graph. An error of
  /// the graph's name stays.
  void forget_error();

  /// The graph built so far, or the first error. A graph has at least one output.
  Result<GraphSpec> finish() const;

private:
  struct State;
  struct ArgumentReader;
  Var add_input(const std::string& name, ElementType type, const Extents& shape, bool is_param);
  std::unique_ptr<State> state_;
};

/// All functions of the text language as a JSON array, ordered by name. Each has its "name", a
/// "summary" (empty for elementwise primitives) and "parameters", each with "name", "kind" (tensor,
/// tensors, number, integer, boolean, text, dtype, axis, axes, ints or dims) and, unless it is
/// required, "default", which is null where the argument is simply left out.
Result<std::string> functions();

// ---- Compiling ----------------------------------------------------------------------------------

/// What a matmul of f32 operands promises. f16 and bf16 operands always accumulate in f32.
enum class Precision : uint8_t {
  pedantic, ///< plain FMA in f32
  highest,  ///< componentwise error at most 2^-20 (|A||B|) for every finite input
  high,     ///< TF32's error
  medium,   ///< bf16 operands, accumulation in f32
};

/// Which rewrites may be applied.
enum class Math : uint8_t {
  strict,  ///< only those that keep every bit
  relaxed, ///< also reassociation
  finite,  ///< also what holds for finite values only
};

struct Options {
  std::string target = "sm_80"; ///< family: which instructions may be used
  /// The card that schedules are chosen for: a100, h100, h200, or native for the one present.
  /// Empty: native where there is a GPU, else the family's flagship.
  std::string device = {};
  Precision precision = Precision::highest;
  Math math = Math::relaxed;
};

/// A value (least == most) or a range of a named dimension.
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

/// A dense row-major tensor: in device memory, or for `reference` in host memory. Without extents
/// it has the shape that the graph declares, which then may hold no named dimension. The extents
/// must outlive the call.
struct TensorView {
  void* data = nullptr;
  std::optional<std::span<const int64_t>> extents = std::nullopt;
};

/// Tensors stand in the order in which the graph declares them. `stream` is a CUstream; null is the
/// default stream.
struct PrepareArguments {
  std::span<const TensorView> params = {};
  void* prepared = nullptr;
  void* workspace = nullptr;
  void* stream = nullptr;
  std::span<const DimRange> dims = {}; ///< sizes that will be launched; not listed: any
};

struct LaunchArguments {
  std::span<const TensorView> inputs = {};
  std::span<const TensorView> params = {}; ///< those that were prepared
  std::span<const TensorView> outputs = {};
  void* prepared = nullptr;
  void* workspace = nullptr;
  void* state = nullptr;
  void* stream = nullptr;
};

enum class CodeFormat : uint8_t { ptx, cubin, cuda, torch };

/// Code of all kernels in one file, and the JSON manifest that says how to launch it
/// (docs/manifest.schema.json).
struct Code {
  std::string bytes;
  std::string manifest;
};

/// What a tensor of a graph is for.
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
  /// The extents of tensor `index` of a role, for one size (least) of each named dimension that its
  /// shape has.
  Result<std::vector<int64_t>> shape(Role role, size_t index,
                                     std::span<const DimRange> dims = {}) const;
  /// Kernels that a launch runs. Of a bundle that is not prepared: what it has for its first card.
  int num_kernels() const;

  /// The most that launches with these sizes need. Needs no GPU. A named dimension that is not
  /// listed may have any size, for which there may be no bound. Sizes at which a tensor has 2^63
  /// bytes or more are an error. Of a bundle that is not prepared on
  /// the current device: the most over all cards that it is made for, enough on any.
  Result<MemoryNeeds> memory(std::span<const DimRange> dims = {}) const;

  /// Code and manifest. PTX is for the family, a cubin for the device. Needs NVRTC, except for
  /// cuda, source that nvcc -arch=sm_80 compiles, and torch, a Python file that brings a chain to
  /// PyTorch (docs/standalone.md). A bundle gives what it holds for the card, neither of these.
  Result<Code> code(CodeFormat format) const;

  /// Compiles and loads what the sizes need, on the device of the current CUDA context, then
  /// enqueues the computation of prepared memory. Call it again after writing to a param, for
  /// another parameter set, further sizes or another device.
  Status prepare(const PrepareArguments& arguments);

  /// Checks the arguments and enqueues the kernels. Compiles, allocates and waits for nothing; may
  /// be captured in a CUDA graph. One exception: the first launch with a tensor that does not start
  /// at a multiple of 16 bytes may compile kernels for it; launch it once before a capture. Outputs
  /// may overlap neither each other nor anything else.
  Status launch(const LaunchArguments& arguments) const;

  struct State;
  explicit Program(std::unique_ptr<State> state);

private:
  std::unique_ptr<State> state_;
};

/// Compiles a graph as far as machine code; kernels are compiled by prepare() and code(), and kept
/// in the cache that `ingot cache path` shows. INGOT_DUMP has an effect as on the command line.
Result<Program> compile(const GraphSpec& graph, const Options& options = {});

enum class ExplainFormat : uint8_t { text, json, dot, svg };

/// What `ingot explain` shows of a graph: its kernels, what they hold and move, and why they end
/// where they do. Text, JSON with the same facts, or a drawing. Figures are for the given sizes of
/// named dimensions (least == most); one that is not given gets a usual size. Needs no GPU and no
/// NVRTC.
Result<std::string> explain(const GraphSpec& graph, const Options& options = {},
                            ExplainFormat format = ExplainFormat::text,
                            std::span<const DimRange> dims = {});

/// Receives the library's warnings, of which there is one kind: a cache that cannot be used. May be
/// called from any thread, also a last time while another one is set. Without a handler warnings
/// are dropped. Affects later compiles.
void set_warning_handler(std::function<void(const std::string&)> handler);

// ---- Reference runs -----------------------------------------------------------------------------

/// A dense row-major tensor that the library made in host memory. 16-bit floats are their bits.
struct HostTensor {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<int64_t> extents;
  std::string bytes;
};

/// The outputs of a graph for tensors in host memory, as `ingot run --on=reference` computes them:
/// in f64 (integers exactly), rounded once to the types of the outputs. Named dimensions get their
/// sizes from the extents. Slow, and exact: it is what kernels are judged by. Needs no GPU.
Result<std::vector<HostTensor>> reference(const GraphSpec& graph,
                                          std::span<const TensorView> inputs,
                                          std::span<const TensorView> params = {});

// ---- Bundles ------------------------------------------------------------------------------------

/// Compiles a graph ahead of time, into the bytes of one file (docs/bundles.md): for each card a
/// manifest, machine code, and PTX for GPUs that it has no machine code for. `options.device` is a
/// list such as "a100,h100"; empty: every card that has a name. Needs NVRTC and no GPU. The same
/// graph gives the same bytes.
Result<std::string> bundle(const GraphSpec& graph, const Options& options = {});

/// A program from the bytes of a bundle, of which it keeps a copy. No compiler runs, and NVRTC is
/// not looked for: prepare loads the code that fits the GPU of the current context, or gives
/// StatusCode::unsupported where none does. `file_name` is what diagnostics call it. parse_error:
/// it is no bundle, or a damaged one; unsupported: a newer version's.
Result<Program> load_bundle(std::string_view bytes, std::string_view file_name = "<bundle>");

/// A program from a file that holds a bundle.
Result<Program> load_bundle_file(const std::string& path);

// ---- Device memory, for programs without a framework -------------------------------------------

/// The primary context of one GPU, current in the thread that opened it, and memory in it. Needs
/// the driver alone.
class Gpu {
public:
  /// StatusCode::unavailable without a driver or without that GPU.
  static Result<Gpu> open(int ordinal = 0);
  Gpu(Gpu&&) noexcept;
  Gpu& operator=(Gpu&&) noexcept;
  ~Gpu();

  const std::string& name() const;
  /// Memory that is zeroed, aligned to 256 bytes and freed with this object. 0 bytes: null.
  Result<void*> allocate(int64_t bytes);
  /// Copy, and wait for the copy.
  Status copy_to_device(void* to, const void* from, int64_t bytes);
  Status copy_to_host(void* to, const void* from, int64_t bytes);
  /// Waits for the default stream and what it waits for; reports what went wrong.
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
