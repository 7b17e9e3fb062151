// SPDX-License-Identifier: Apache-2.0
// run_module: lays tensors and memories out, then carries out the steps of both programs.
#include "tests/emulation/emulator.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ingot::emulation {

namespace {

class Run {
public:
  Run(const Compilation& compilation, const KernelLibrary& library,
      llvm::ArrayRef<const Tensor*> inputs, const RunOptions& options)
      : compilation_(compilation), library_(library), options_(options),
        plan_(llvm::cantFail(LaunchPlan::bind(compilation.module))),
        random_(options.adversary.seed), slots_(plan_.num_dims, 0), bases_(plan_.num_bases(), 0) {
    dims_ = llvm::cantFail(bind_dims(compilation.graph, inputs));
    for (size_t i = 0; i < plan_.num_dims; ++i)
      slots_[i] = dims_.at(compilation.module.dims[i].name);
    place_inputs(inputs);
    place_outputs();
    place_memory(plan_.prepared, plan_.prepared_base());
    place_memory(plan_.workspace, plan_.workspace_base());
    place_memory(plan_.state, plan_.state_base());
    if (state().size() > 0) std::memset(state().data(), 0, state().size());
  }

  Outcome run() {
    carry_out(plan_.prepare);
    if (GuardedMemory* prepared = memory_[plan_.prepared_base()].get()) prepared->make_read_only();
    carry_out(plan_.launch);
    for (size_t i = 0; i < state().size(); ++i)
      if (state().data()[i] != 0) fail("the launch does not restore state");
    for (uint32_t base = 0; base < memory_.size(); ++base)
      if (!memory_[base]->surroundings_intact())
        fail(fmt::format("something wrote beside {}", base_name(base)));
    read_outputs();
    return std::move(outcome_);
  }

private:
  void fail(const std::string& problem) {
    if (outcome_.problem.empty()) outcome_.problem = problem;
  }

  GuardedMemory& state() const { return *memory_[plan_.state_base()]; }

  std::string base_name(uint32_t base) const {
    const Module& module = compilation_.module;
    if (base < plan_.param_base()) return module.inputs[base].name;
    if (base < plan_.output_base()) return module.params[base - plan_.param_base()].name;
    if (base < plan_.prepared_base()) return module.outputs[base - plan_.output_base()].name;
    return base == plan_.prepared_base()    ? "prepared memory"
           : base == plan_.workspace_base() ? "workspace"
                                            : "state";
  }

  GuardedMemory& place(uint32_t base, int64_t bytes, int64_t alignment, int64_t misalign) {
    if (memory_.size() <= base) memory_.resize(base + 1);
    memory_[base] = std::make_unique<GuardedMemory>(bytes, alignment, misalign);
    bases_[base] = reinterpret_cast<uintptr_t>(memory_[base]->data());
    return *memory_[base];
  }

  GuardedMemory& place_tensor(uint32_t base, const BoundTensor& tensor) {
    int64_t bytes = tensor.element_bytes;
    for (const SlotExpr& extent : tensor.shape) bytes *= *extent.evaluate(slots_);
    const bool is_output = base >= plan_.output_base();
    if (options_.misaligned == Misaligned::all ||
        (options_.misaligned == Misaligned::outputs && is_output))
      return place(base, bytes, tensor.alignment, tensor.element_bytes);
    return place(base, bytes, 16, 0);
  }

  void place_memory(const BoundMemory& memory, uint32_t base) {
    place(base, *memory.bytes.evaluate(slots_), memory.alignment, 0);
  }

  void place_inputs(llvm::ArrayRef<const Tensor*> inputs) {
    const Graph& graph = compilation_.graph;
    std::map<std::string, const Tensor*> by_name;
    for (size_t i = 0; i < inputs.size(); ++i)
      by_name[graph.attributes<InputAttributes>(graph.producer(graph.inputs()[i])).name] =
          inputs[i];
    auto place_all = [&](llvm::ArrayRef<BoundTensor> tensors, uint32_t base) {
      for (const BoundTensor& tensor : tensors) {
        const Tensor& values = *by_name.at(tensor.name);
        GuardedMemory& memory = place_tensor(base++, tensor);
        INGOT_ASSERT(static_cast<int64_t>(memory.size()) == values.size_bytes());
        if (values.count() > 0) std::memcpy(memory.data(), values.bytes(), values.size_bytes());
        memory.make_read_only();
      }
    };
    place_all(plan_.inputs, 0);
    place_all(plan_.params, plan_.param_base());
  }

  void place_outputs() {
    uint32_t base = plan_.output_base();
    for (const BoundTensor& tensor : plan_.outputs) place_tensor(base++, tensor);
  }

  void read_outputs() {
    const Graph& graph = compilation_.graph;
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const Type& type = graph.type(graph.outputs()[i].value);
      Tensor& tensor = outcome_.outputs.emplace_back(type.dtype, evaluate_shape(type.shape, dims_));
      const GuardedMemory& memory = *memory_[plan_.output_base() + i];
      INGOT_ASSERT(static_cast<int64_t>(memory.size()) == tensor.size_bytes());
      if (tensor.count() > 0) std::memcpy(tensor.bytes(), memory.data(), memory.size());
    }
  }

  void carry_out(llvm::ArrayRef<Step> steps) {
    for (const Step& step : steps)
      if (outcome_.problem.empty()) launch(plan_.kernels[step.kernel]);
  }

  void launch(const BoundKernel& kernel) {
    const auto variants = llvm::ArrayRef(plan_.variants).slice(kernel.first, kernel.count);
    const auto* variant = llvm::find_if(
        variants, [&](const BoundVariant& v) { return variant_holds(v, slots_, bases_); });
    if (variant == variants.end()) return fail("no variant of " + kernel.name + " applies");
    const auto extent = [&](const SlotExpr& expr) { return *expr.evaluate(slots_); };
    INGOT_ASSERT(extent(variant->grid[1]) == 1 && extent(variant->grid[2]) == 1);
    INGOT_ASSERT(extent(variant->block[1]) == 1 && extent(variant->block[2]) == 1);
    std::vector<unsigned long long> words;
    for (const BoundArgument& argument : variant->arguments)
      words.push_back(*argument_value(argument, slots_, bases_));
    std::array<TensorMap, kMostTensorMaps> maps;
    for (size_t i = 0; i < variant->maps.size(); ++i) {
      unsigned long long& word = words[variant->maps[i].argument];
      maps[i] = encode(variant->maps[i], word);
      if (!is_legal(maps[i])) return fail(variant->entry + " takes a map that no driver makes");
      word = reinterpret_cast<unsigned long long>(&maps[i]);
    }

    const auto cluster = static_cast<int64_t>(variant->cluster[0]);
    const int64_t blocks = std::min(extent(variant->grid[0]),
                                    std::max(cluster, options_.most_blocks / cluster * cluster));
    if (blocks % cluster != 0) return fail(variant->entry + " has a part of a cluster");
    const int64_t shared_bytes = extent(variant->shared_bytes);
    Adversary adversary = options_.adversary;
    if (variant->entry != options_.mutated) adversary.skipped.reset();
    Launched launched{variant->entry, shared_bytes};
    const auto make = [&] {
      adversary.seed = random_();
      return std::make_unique<Block>(static_cast<int>(extent(variant->block[0])), shared_bytes,
                                     adversary);
    };
    run_blocks(static_cast<int>(blocks), static_cast<int>(cluster), words, launched, make);
    outcome_.launches.push_back(launched);
  }

  /// The conditions of cuTensorMapEncodeTiled, of tensors with elements.
  static bool is_legal(const TensorMap& map) {
    const auto fits = [](int64_t extent, int64_t most) { return extent >= 1 && extent <= most; };
    if (llvm::is_contained(map.extents, 0)) return true;
    return reinterpret_cast<uintptr_t>(map.tensor) % 16 == 0 &&
           llvm::all_of(map.extents, [&](int64_t e) { return fits(e, INT32_MAX); }) &&
           llvm::all_of(
               map.strides,
               [&](int64_t s) { return s % 16 == 0 && fits(s, (int64_t{1} << 40) - 1); }) &&
           llvm::all_of(map.box, [&](int64_t e) { return fits(e, 256); });
  }

  /// The map of the tensor at an address.
  TensorMap encode(const BoundMap& map, unsigned long long address) const {
    TensorMap encoded;
    encoded.element_bytes = map.type == MapType::f32 || map.type == MapType::tf32 ? 4 : 2;
    encoded.rounds = map.type == MapType::tf32;
    encoded.tensor = reinterpret_cast<const unsigned char*>(address);
    for (size_t dim = 0; dim < 3; ++dim) {
      encoded.extents[dim] = *map.extents[dim].evaluate(slots_);
      encoded.box[dim] = map.box[dim];
    }
    for (size_t dim = 0; dim < 2; ++dim) encoded.strides[dim] = *map.strides[dim].evaluate(slots_);
    return encoded;
  }

  /// Runs all blocks of a launch, in any order; of those that pause any may go on, or a new cluster
  /// begin.
  void run_blocks(int count, int of_cluster, const std::vector<unsigned long long>& words,
                  Launched& launched, llvm::function_ref<std::unique_ptr<Block>()> make) {
    std::vector<int> order(count / of_cluster); // of clusters
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::unique_ptr<Block>> under_way, idle;
    const auto begin = [&] {
      const auto cluster = std::make_shared<Cluster>();
      cluster->has_ended.resize(of_cluster);
      for (int rank = 0; rank < of_cluster; ++rank) {
        if (idle.empty()) idle.push_back(make());
        std::swap(idle[random_() % idle.size()], idle.back());
        cluster->blocks.push_back(idle.back().get());
        cluster->threads += idle.back()->threads();
        under_way.push_back(std::move(idle.back()));
        idle.pop_back();
      }
      for (int rank = 0; rank < of_cluster; ++rank)
        cluster->blocks[rank]->start(library_.kernel(launched.entry), words.data(),
                                     order.back() * of_cluster + rank, count, cluster);
      order.pop_back();
    };
    while (!order.empty() || !under_way.empty()) {
      const bool may_begin =
          !order.empty() && (of_cluster == 1 || under_way.size() <= size_t(of_cluster));
      if (under_way.empty() || (may_begin && random_() % 4 != 0)) begin();
      const auto ready = llvm::to_vector(
          llvm::make_filter_range(llvm::seq<size_t>(0, under_way.size()),
                                  [&](size_t i) { return under_way[i]->can_run(); }));
      if (ready.empty()) return fail(launched.entry + ": " + under_way.front()->deadlock());
      std::swap(under_way[ready[random_() % ready.size()]], under_way.back());
      std::unique_ptr<Block> block = std::move(under_way.back());
      under_way.pop_back();
      library_.enter(block.get());
      const Progress progress = block->resume();
      if (progress == Progress::failed) return fail(launched.entry + ": " + block->problem());
      for (size_t kind = 0; kind < kOperations; ++kind)
        launched.met[kind] = std::max(launched.met[kind], block->met()[kind]);
      (progress == Progress::paused ? under_way : idle).push_back(std::move(block));
    }
  }

  const Compilation& compilation_;
  const KernelLibrary& library_;
  const RunOptions& options_;
  const LaunchPlan plan_;
  std::mt19937_64 random_;
  DimBindings dims_;
  SlotValues slots_;
  llvm::SmallVector<uint64_t, 64> bases_;
  std::vector<std::unique_ptr<GuardedMemory>> memory_; ///< by base
  Outcome outcome_;
};

} // namespace

Outcome run_module(const Compilation& compilation, const KernelLibrary& library,
                   llvm::ArrayRef<const Tensor*> inputs, const RunOptions& options) {
  return Run(compilation, library, inputs, options).run();
}

} // namespace ingot::emulation
