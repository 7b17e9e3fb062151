// SPDX-License-Identifier: Apache-2.0
// shared memory, traffic, cost: numbers that follow from the data of a kernel made by hand.
#include "codegen/kernel/launch_shape.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/traffic.h"
#include "codegen/kernel/walks.h"
#include "codegen/schedule/cost_model.h"
#include "ir/assumed_size.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

constexpr int64_t kBatch = 2, kRows = 1000, kColumns = 4096;

/// A kernel over kBatch x kRows x kColumns under construction.
struct Made {
  Kernel kernel;
  TileBody& body;

  Made() : body(std::get<TileBody>(kernel.body)) {
    body.batch = kBatch;
    body.rows = kRows;
    body.columns = kColumns;
  }
  Made(const Made&) = delete;

  uint32_t parameter(Purpose purpose, DType dtype, const Expr& elements) {
    KernelParameter parameter;
    parameter.purpose = purpose;
    parameter.dtype = dtype;
    parameter.elements = elements;
    kernel.parameters.push_back(parameter);
    return static_cast<uint32_t>(kernel.parameters.size() - 1);
  }
  /// A read of a tensor; gives its number in the frame.
  uint32_t read(uint32_t parameter, const Expr& index, const Expr& elements) {
    MemoryRead read;
    read.parameter = parameter;
    read.map.index = index;
    read.elements = elements;
    body.frame.reads.push_back(read);
    return static_cast<uint32_t>(body.frame.reads.size() - 1);
  }
  uint32_t add(decltype(Stage::step) step) {
    body.stages.push_back({std::move(step), ""});
    return static_cast<uint32_t>(body.stages.size() - 1);
  }
};

const Expr kOfColumns = coordinate(Coordinate::col);
const Expr kWide =
    (coordinate(Coordinate::batch) * kRows + coordinate(Coordinate::row)) * kColumns + kOfColumns;
const Expr kPoints = kBatch * kRows * kColumns;

PointExpr leaf(PointOp::Kind kind, uint32_t index) {
  return {{PointOp{.kind = kind, .index = index}}};
}

ReduceStage reduce(OpKind op, ReduceSpan span, PointExpr value, int64_t width = 0) {
  return {{op, DType::f32}, span, width, {}, {}, std::move(value)};
}

StoreStage store(uint32_t parameter, const Expr& elements, PointExpr value) {
  StoreStage result;
  result.value = std::move(value);
  result.parameters = {parameter};
  result.elements = elements;
  return result;
}

Schedule tensor_core_tile() {
  Schedule s;
  s.mainloop = MainloopKind::tensor;
  s.compute = ComputeType::bf16;
  s.tile_m = s.tile_n = s.step_n = 128;
  s.tile_k = 64;
  s.warp_m = s.warp_n = 64;
  s.threads = 128;
  s.slots = 3;
  s.operands = {{PathKind::direct, 8}, {PathKind::direct, 8}};
  return s;
}

/// A warp's or more threads of a row, each with 8 elements at a time.
Schedule rows_of(int64_t per_row, Skeleton skeleton) {
  Schedule s;
  s.skeleton = skeleton;
  s.threads = s.per_row = per_row;
  s.tile_m = 1;
  s.vec = 4;
  s.chunks = 2;
  s.tile_n = s.step_n = per_row * 8;
  return s;
}

int64_t number(const Expr& expr) { return expr.constant().value(); }

/// The number of elements that each walk of a kernel reads through `parameter`.
std::vector<int64_t> walks(const Made& made, Skeleton skeleton, uint32_t parameter) {
  Schedule schedule;
  schedule.skeleton = skeleton;
  std::vector<int64_t> result;
  const std::vector<ParameterTraffic> traffic = traffic_of(made.kernel, schedule);
  for (const Expr& elements : traffic[parameter].reads) result.push_back(number(elements));
  return result;
}

using Numbers = std::vector<int64_t>;

} // namespace

TEST_CASE("shared memory: stages of a mainloop, where they are more than the scratch") {
  Made made;
  made.body.mainloops.resize(1);
  const Schedule s = tensor_core_tile();
  CHECK(shared_bytes(made.kernel, s) == 3 * (128 + 128) * 64 * 2);
  // Segments of 32 columns lie within a warp's 64: nothing crosses warps.
  made.add(reduce(OpKind::moments, ReduceSpan::segment, {}, 32));
  CHECK(shared_bytes(made.kernel, s) == 3 * (128 + 128) * 64 * 2);
  // Columns of 128 rows cross two warps: states of 12 bytes of both and of all rows, far below the
  // stages.
  made.add(reduce(OpKind::moments, ReduceSpan::column, {}));
  CHECK(shared_bytes(made.kernel, s) == 3 * (128 + 128) * 64 * 2);
  // Segments of 48 columns fit no arrangement of threads: the tile goes through scratch.
  made.add(reduce(OpKind::sum, ReduceSpan::segment, {}, 48));
  const int64_t through = 128 * 2 * 8 + 128 * (128 + 1) * 4;
  Schedule shallow = s;
  shallow.slots = 2;
  shallow.tile_k = 16;
  CHECK(shared_bytes(made.kernel, shallow) == through + 3 * 128 * 12);
}

TEST_CASE("shared memory: each reduction of a row has scratch where several warps share it") {
  Made made;
  CHECK(shared_bytes(made.kernel, rows_of(256, Skeleton::held)) == 0);
  made.add(reduce(OpKind::sum, ReduceSpan::row, {}));
  CHECK(shared_bytes(made.kernel, rows_of(32, Skeleton::held)) == 0);
  CHECK(shared_bytes(made.kernel, rows_of(256, Skeleton::held)) == 8 * 4);
  made.add(reduce(OpKind::moments, ReduceSpan::row, {})); // two sweeps, of 8 and 4 bytes
  CHECK(shared_bytes(made.kernel, rows_of(256, Skeleton::held)) == 8 * 4 + 8 * 12);
  MergeStage merge;
  merge.reducer = {OpKind::max_sumexp, DType::f32};
  made.add(merge);
  CHECK(shared_bytes(made.kernel, rows_of(256, Skeleton::held)) == 8 * 4 + 8 * 12 + 8 * 8);
  merge.at_points = true; // by one thread
  made.add(merge);
  CHECK(shared_bytes(made.kernel, rows_of(256, Skeleton::held)) == 8 * 4 + 8 * 12 + 8 * 8);
}

TEST_CASE("shared memory: stores that stage their rows add to the scratch") {
  Made made;
  StoreStage stage = store(made.parameter(Purpose::write, DType::bf16, kPoints), kPoints, {});
  stage.is_whole = true;
  stage.map.contiguous = Coordinate::col;
  stage.map.multiples = {Dim(kColumns)};
  made.add(stage);
  Schedule s = tensor_core_tile();
  s.slots = 2;
  s.tile_k = 16;
  const int64_t mainloop = shared_bytes(made.kernel, s);
  s.staged_stores = true;
  CHECK(shared_bytes(made.kernel, s) == 4 * 64 * (128 + 32));
  CHECK(mainloop == 2 * (128 + 128) * 16 * 2);
}

TEST_CASE("traffic: each walk of streamed rows reads the wide tensors, others are read once") {
  Made made;
  const uint32_t x = made.parameter(Purpose::read, DType::f32, kPoints);
  const uint32_t bias = made.parameter(Purpose::read, DType::f32, kColumns);
  const uint32_t out = made.parameter(Purpose::write, DType::f32, kPoints);
  const auto read_x = leaf(PointOp::Kind::read, made.read(x, kWide, kPoints));
  const auto read_bias = leaf(PointOp::Kind::read, made.read(bias, kOfColumns, kColumns));
  made.add(MapStage{0, read_x});
  made.add(reduce(OpKind::sum, ReduceSpan::row, leaf(PointOp::Kind::slot, 0)));
  made.add(reduce(OpKind::sum, ReduceSpan::row, read_bias));
  made.add(store(out, kPoints, read_x));
  CHECK(walks(made, Skeleton::streamed, x) == Numbers{number(kPoints), number(kPoints)});
  CHECK(walks(made, Skeleton::held, x) == Numbers{number(kPoints)});
  for (Skeleton skeleton : {Skeleton::streamed, Skeleton::held}) {
    CHECK(walks(made, skeleton, bias) == Numbers{kColumns});
    CHECK(walks(made, skeleton, out).empty());
  }
}

TEST_CASE("traffic: rows in shared memory are read once, and so are operands of the stores alone") {
  Made made;
  const uint32_t x = made.parameter(Purpose::read, DType::f32, kPoints);
  const uint32_t z = made.parameter(Purpose::read, DType::f16, kPoints);
  const uint32_t out = made.parameter(Purpose::write, DType::f32, kPoints);
  const auto read_x = leaf(PointOp::Kind::read, made.read(x, kWide, kPoints));
  const auto read_z = leaf(PointOp::Kind::read, made.read(z, kWide, kPoints));
  made.add(reduce(OpKind::sum, ReduceSpan::row, read_x));
  made.add(reduce(OpKind::prod, ReduceSpan::row, read_x));
  made.add(store(out, kPoints, read_x));
  made.add(store(out, kPoints, read_z));
  CHECK(walks(made, Skeleton::kept, x) == Numbers{number(kPoints)});
  CHECK(walks(made, Skeleton::kept, z) == Numbers{number(kPoints)});
  CHECK(kept_reads(made.body) == std::vector<uint32_t>{0});
}

TEST_CASE("kept rows: memory and launch of clusters") {
  Made made;
  made.body.batch = 1;
  made.body.rows = Expr::symbol("m");
  made.body.columns = 100000;
  const uint32_t x = made.parameter(Purpose::read, DType::f32, kPoints);
  IndexMap& map = made.body.frame.reads[made.read(x, kWide, kPoints)].map;
  map.contiguous = Coordinate::col;
  map.multiples = {Dim(100000)};
  made.add(reduce(OpKind::max_sumexp, ReduceSpan::row, leaf(PointOp::Kind::read, 0)));
  Schedule s = rows_of(512, Skeleton::kept);
  s.most_blocks = 112;
  s.cluster = 8;
  s.slots = 5;
  CHECK(can_keep(made.kernel, s));
  // 16 warps' states of 8 bytes; two sets of 8 states and their mbarriers; five chunks.
  CHECK(shared_bytes(made.kernel, s) ==
        (16 * 8 + 2 * (8 + 8 * 32) + 127) / 128 * 128 + 5 * 4096 * 4);
  const LaunchShape launch = tile_launch(made.body, s);
  CHECK(launch.cluster == std::array<int64_t, 3>{8, 1, 1});
  const auto blocks = [&](int64_t rows) { return likely_value(launch.grid[0], {{"m", rows}}); };
  CHECK(blocks(0) == 0);
  CHECK(blocks(5) == 8 * 5);
  CHECK(blocks(14) == 8 * 14);
  CHECK(blocks(15) == 8 * 8); // two rows each, instead of one row for most
  CHECK(blocks(128) == 8 * 13);
  // Accesses of fewer bytes than 16, a reduction of segments and a number of columns that a launch
  // names.
  Schedule narrow = s;
  narrow.vec = 1;
  CHECK(!can_keep(made.kernel, narrow));
  made.body.columns = Expr::symbol("n");
  CHECK(!can_keep(made.kernel, s));
  made.body.columns = 100000;
  made.add(reduce(OpKind::sum, ReduceSpan::segment, leaf(PointOp::Kind::read, 0), 16));
  CHECK(!can_keep(made.kernel, s));
}

TEST_CASE("traffic: slices count with their own sizes, together no more than the tensor") {
  Made made;
  const Expr half = kBatch * kRows * (kColumns / 2);
  const uint32_t x = made.parameter(Purpose::read, DType::f32, half * 2);
  const uint32_t a = made.read(x, kWide, half), b = made.read(x, kWide, half);
  made.add(MapStage{0, leaf(PointOp::Kind::read, a)});
  CHECK(walks(made, Skeleton::held, x) == Numbers{number(half)});
  made.add(MapStage{0, leaf(PointOp::Kind::read, b)});
  CHECK(walks(made, Skeleton::held, x) == Numbers{2 * number(half)});
  made.add(MapStage{0, leaf(PointOp::Kind::read, made.read(x, kWide, half))});
  CHECK(walks(made, Skeleton::held, x) == Numbers{2 * number(half)});
}

TEST_CASE("traffic: of operands of which halves are multiplied the halves are read") {
  Made made;
  const uint32_t x = made.parameter(Purpose::read, DType::f32, 64);
  const uint32_t halves = made.parameter(Purpose::packed, DType::f32, 64);
  Mainloop& mainloop = made.body.mainloops.emplace_back();
  MatrixOperand& operand = mainloop.operands[0];
  operand.from = {x, {}, 64};
  mainloop.operands[1].from = {made.parameter(Purpose::read, DType::f32, 32), {}, 32};
  CHECK(walks(made, Skeleton::held, x) == Numbers{64});
  operand.packed = halves;
  CHECK(walks(made, Skeleton::held, x).empty());
  CHECK(walks(made, Skeleton::held, halves) == Numbers{64});
}

TEST_CASE("cost: rows take the time of the bytes that they move, each walk's") {
  Made made;
  const uint32_t x = made.parameter(Purpose::read, DType::f32, kPoints);
  const uint32_t out = made.parameter(Purpose::write, DType::f32, kPoints);
  const auto read = leaf(PointOp::Kind::read, made.read(x, kWide, kPoints));
  made.add(reduce(OpKind::sum, ReduceSpan::row, read));
  made.add(store(out, kPoints, read));
  DeviceSpec device = device_presets().front();
  const double bytes = static_cast<double>(number(kPoints)) * 4;
  const auto memory = [&](Skeleton skeleton) {
    return predict(made.kernel, rows_of(256, skeleton), device, {}).memory *
           device.bytes_per_second / bytes;
  };
  CHECK(memory(Skeleton::streamed) ==
        doctest::Approx(memory(Skeleton::held))); // L2 has the rows under way
  device.l2_bytes = 1 << 20;
  const double once = memory(Skeleton::held), again = memory(Skeleton::streamed);
  CHECK(once > 2); // no machine moves more than its rate
  CHECK(again / once == doctest::Approx(1.5));
}

TEST_CASE("cost: a step counts as often as it has values") {
  Made made;
  const uint32_t x = made.parameter(Purpose::read, DType::f32, kPoints);
  const uint32_t out = made.parameter(Purpose::write, DType::f32, kPoints);
  PointExpr value = leaf(PointOp::Kind::read, made.read(x, kWide, kPoints));
  const auto sum = made.add(reduce(OpKind::sum, ReduceSpan::row, value));
  const auto call = [](OpKind op, llvm::SmallVector<uint32_t, 3> operands) {
    PointOp step;
    step.kind = PointOp::Kind::call;
    step.function.op = op;
    step.operands = std::move(operands);
    return step;
  };
  value.ops.push_back(PointOp{.kind = PointOp::Kind::result, .index = sum});
  value.ops.push_back(call(OpKind::mul, {0, 1}));
  made.add(store(out, kPoints, value));
  StoreStage& stored = std::get<StoreStage>(made.body.stages.back().step);
  const auto stages = [&] {
    return predict(made.kernel, rows_of(256, Skeleton::held), device_presets().front(), {}).stages;
  };
  const double usual = stages();
  stored.value.ops.insert(stored.value.ops.begin() + 2, call(OpKind::exp, {1})); // of a row
  stored.value.ops.back().operands = {0, 2};
  const double by_row = stages();
  CHECK(by_row > usual);
  CHECK(by_row < usual * 1.01);
  stored.value.ops[2].operands = {0}; // of an element
  CHECK(stages() > usual * 1.5);
}

static Schedule packing_by_tiles() {
  Schedule schedule;
  schedule.skeleton = Skeleton::packing_tiles;
  schedule.tile_m = 8;
  schedule.tile_k = 512;
  return schedule;
}

TEST_CASE("cost: packing no rows takes a launch") {
  const Schedule schedule = packing_by_tiles();
  const DeviceSpec& device = device_presets().front();
  const double none = packing_seconds(schedule, 0, 1000, 8, device);
  CHECK(none > 0);
  CHECK(none < packing_seconds(schedule, 8, 1000, 8, device));
}

TEST_CASE("cost: packing few rows takes the time of a block, and more rows never take less") {
  const Schedule schedule = packing_by_tiles();
  const DeviceSpec& device = device_presets().front();
  const auto seconds = [&](double rows, double depth) {
    return packing_seconds(schedule, rows, depth, 4, device);
  };
  CHECK(seconds(1, 17) == seconds(8, 512));
  CHECK(seconds(1, 17) < 10e-6);
  double last = 0;
  for (double rows = 1; rows < 1e6; rows *= 2) {
    CHECK(seconds(rows, 17) >= last);
    last = seconds(rows, 17);
  }
}

TEST_CASE("cost: a product takes the time of its multiply-adds at least") {
  Made made;
  const uint32_t a = made.parameter(Purpose::read, DType::bf16, kBatch * kRows * 8192);
  Mainloop& mainloop = made.body.mainloops.emplace_back();
  mainloop.depth = 8192;
  for (MatrixOperand& operand : mainloop.operands) operand.from.parameter = a;
  const DeviceSpec& device = device_presets().front();
  const KernelCost cost = predict(made.kernel, tensor_core_tile(), device, {});
  CHECK(cost.products > 2.0 * static_cast<double>(number(kPoints)) * 8192 / device.mma_flops);
  CHECK(cost.seconds > cost.products);
}
