// SPDX-License-Identifier: Apache-2.0
// See tuned_schedules.h.
#include "src/tuned_schedules.h"

#include "codegen/kernel/index_map.h"
#include "src/support/digest.h"
#include "src/support/json_text.h"
#include "src/version.h"

namespace ingot {
namespace {

/// Raised when the meaning of a choice changes.
constexpr int kFormat = 8;

/// The points of a kernel, or of the tile of a computed operand.
std::string points_text(const Group& part) {
  auto extent = [&](const AtomList& atoms) { return part.space.extent(atoms).text(); };
  std::string text = fmt::format("{} x {} x {}", extent(part.domain.batch),
                                 extent(part.domain.rows), extent(part.domain.columns));
  for (const Matmul& matmul : part.matmuls) text += " over " + extent(matmul.contraction);
  if (part.sum) text += " summed";
  return text;
}

/// The accesses to memory and to earlier tiles. A tile's writes are the values that it keeps.
std::string accesses_text(const Graph& graph, const Group& part) {
  std::string text;
  auto add = [&](const char* what, ValueId value, const Access& access) {
    text += fmt::format("\n{} {} as {} {}", what, graph.type(value).text(),
                        spelling(graph.stored_type(value)).str(),
                        index_map(part, access, stage_coordinates(part)).index.text());
  };
  for (const Read& read : part.reads)
    if (!read.computed) add(read.combine ? "combines" : "reads", read.access.value, read.access);
  for (const Read& read : part.reads)
    if (read.tile)
      add(fmt::format("takes from tile {}", *read.tile).c_str(), read.access.value, read.access);
  for (const Write& write : part.writes) add("writes", write.value, write.access);
  return text;
}

/// The card and everything that a schedule depends on. It contains no names of values, so that the
/// same kernel of another graph has the same description. Kernels that differ only in which of
/// their values an op takes have the same description too, because the same schedule is fast for
/// them.
std::string description(const Graph& graph, const Group& group, const DeviceSpec& device,
                        const ScheduleOptions& options) {
  std::string text = fmt::format("format {} of {}\n", kFormat, kVersion);
  text +=
      fmt::format("{} with {} SMs, {} and {} bytes shared, {} bytes of L2\n", device.arch,
                  device.sm_count, device.shared_per_block, device.shared_per_sm, device.l2_bytes);
  text += spelling(options.family).str() + "\n";
  if (!group.matmuls.empty())
    text += fmt::format("{} {} {} {}\n", spelling(options.precision).str(),
                        options.least_products.halves, options.least_products.thirds,
                        group.program == ProgramKind::prepare);
  text += points_text(group);
  for (OpId op : group.ops)
    text += fmt::format("\n{} {}", info(graph.op(op).kind).name.str(),
                        graph.type(graph.op(op).results[0]).text());
  text += accesses_text(graph, group);
  for (const Group* tile : tiles_of(group))
    text += "\ncomputes " + points_text(*tile) + accesses_text(graph, *tile);
  return text;
}

} // namespace

std::shared_ptr<const TunedSchedules> TunedSchedules::from_environment() {
  CacheSettings settings = CacheSettings::from_environment();
  settings.creates = false;
  return std::make_shared<const TunedSchedules>(std::move(settings));
}

std::optional<ScheduleChoice> TunedSchedules::find(const Graph& graph, const Group& group,
                                                   const DeviceSpec& device,
                                                   const ScheduleOptions& options) const {
  if (folder().empty()) return std::nullopt;
  const auto note = cache_.load_note(sha256_hex(description(graph, group, device, options)));
  if (!note) return std::nullopt;
  return parse_note(*note);
}

std::optional<ScheduleChoice> TunedSchedules::parse_note(llvm::StringRef note) {
  auto json = parse_json(note);
  if (!json) {
    llvm::consumeError(json.takeError());
    return std::nullopt;
  }
  const llvm::json::Object* object = json->getAsObject();
  const auto text = object ? object->getString("choice") : std::nullopt;
  if (!text) return std::nullopt;
  auto choice = ScheduleChoice::parse(*text);
  if (choice) return *choice;
  llvm::consumeError(choice.takeError());
  return std::nullopt;
}

llvm::Error TunedSchedules::keep(const Graph& graph, const Group& group, const DeviceSpec& device,
                                 const ScheduleOptions& options, const Record& record) {
  const std::string text = description(graph, group, device, options);
  llvm::json::Object dims;
  for (const auto& [name, size] : record.dims) dims[name] = size;
  const llvm::json::Value note = llvm::json::Object{{"kernel", text},
                                                    {"choice", record.choice.text()},
                                                    {"ms", record.milliseconds},
                                                    {"untuned_ms", record.untuned_milliseconds},
                                                    {"dims", std::move(dims)}};
  return cache_.store_note(sha256_hex(text), llvm::formatv("{0:2}\n", note).str());
}

} // namespace ingot
