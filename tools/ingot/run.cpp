// SPDX-License-Identifier: Apache-2.0
// `ingot run`: one run of a graph on npy files.
#include "ir/interpreter/memory.h"
#include "ir/npy.h"
#include "src/execute.h"
#include "src/support/files.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <map>

namespace ingot::cli {
namespace {

constexpr const char* kOverview =
    R"(Runs the graph in FILE once. Every input and param needs a npy file of its type and shape;
the shapes give the named dimensions. Outputs that no --output names are not written.
)";

struct RunArguments {
  GraphFile file;
  CompileFlags flags;
  llvm::cl::list<std::string> inputs{"input", llvm::cl::value_desc("NAME=FILE.npy"),
                                     llvm::cl::desc("an input or a param"),
                                     llvm::cl::cat(category())};
  llvm::cl::list<std::string> outputs{"output", llvm::cl::value_desc("NAME=FILE.npy"),
                                      llvm::cl::desc("where a result goes"),
                                      llvm::cl::cat(category())};
  TextOption on{"on", "place", "gpu (default) or reference, in f64 on the host", "gpu"};
  PrecisionFlag precision;
};

using Bindings = std::map<std::string, std::string>;

/// NAME=FILE arguments; each name must be one of `known`, and only once.
llvm::Expected<Bindings> bind_files(llvm::StringRef option,
                                    const llvm::cl::list<std::string>& given,
                                    const std::vector<std::string>& known) {
  Bindings bindings;
  for (const std::string& text : given) {
    auto [name, path] = llvm::StringRef(text).split('=');
    if (name.empty() || path.empty())
      return make_error(ErrorCode::invalid_argument, "{}: expected NAME=FILE.npy, got '{}'",
                        option.str(), text);
    if (!llvm::is_contained(known, name))
      return make_error(ErrorCode::invalid_argument, "{}: '{}' is none of the graph's: {}",
                        option.str(), name.str(), llvm::join(known, ", "));
    if (!bindings.emplace(name.str(), path.str()).second)
      return make_error(ErrorCode::invalid_argument, "{}: '{}' is given twice", option.str(),
                        name.str());
  }
  return bindings;
}

llvm::Expected<Bindings> bind_inputs(const Graph& graph, const RunArguments& arguments) {
  std::vector<std::string> names;
  for (ValueId id : graph.inputs())
    names.push_back(graph.attributes<InputAttributes>(graph.producer(id)).name);
  return bind_files("--input", arguments.inputs, names);
}

llvm::Expected<Bindings> bind_outputs(const Graph& graph, const RunArguments& arguments) {
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs()) names.push_back(output.name);
  auto files = bind_files("--output", arguments.outputs, names);
  if (files && files->empty())
    return make_error(ErrorCode::invalid_argument,
                      "no --output is given: expected one or more of {}", llvm::join(names, ", "));
  return files;
}

llvm::Error check_files(const RunArguments& arguments, const Bindings& inputs,
                        const Bindings& outputs) {
  std::vector<FileArgument> read, written;
  if (arguments.file.path != "-") read.push_back({"the graph", arguments.file.path});
  for (const auto& [name, path] : inputs) read.push_back({"--input " + name, path});
  for (const auto& [name, path] : outputs) written.push_back({"--output " + name, path});
  return check_outputs(read, written);
}

llvm::Error write_outputs(const Graph& graph, const Bindings& files,
                          llvm::ArrayRef<Tensor> results) {
  StagedFiles staged;
  for (size_t i = 0; i < results.size(); ++i)
    if (auto file = files.find(graph.outputs()[i].name); file != files.end())
      if (auto error = staged.add(file->second, npy_bytes(results[i]))) return error;
  return staged.commit();
}

/// Refuses files whose contents do not fit memory all at once.
llvm::Error check_input_bytes(const Bindings& files) {
  double bytes = 0;
  for (const auto& [name, path] : files) {
    uint64_t size = 0;
    if (!llvm::sys::fs::file_size(path, size)) bytes += static_cast<double>(size);
    if (auto error = check_bytes("--input " + name + "=" + path, bytes)) return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Tensor>> read_inputs(const Graph& graph, const Bindings& files) {
  if (auto error = check_input_bytes(files)) return error;
  std::vector<Tensor> tensors;
  for (ValueId id : graph.inputs()) {
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    auto file = files.find(input.name);
    if (file == files.end())
      return make_error(ErrorCode::invalid_argument,
                        "no file for '{}', {}: give --input {}=FILE.npy", input.name,
                        input.type.text(), input.name);
    auto tensor = read_npy(file->second, input.type.dtype);
    if (!tensor) return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

/// An error that names inputs, and where they come from.
llvm::Error in_files(llvm::Error error, const Bindings& files) {
  auto [code, text] = take_error(std::move(error));
  for (const auto& [name, path] : files)
    text += fmt::format("{}{} is '{}'", name == files.begin()->first ? " (" : ", ", name, path);
  return make_error(code, "{})", text);
}

llvm::Error run_file(const RunArguments& arguments) {
  auto place = parse_place(arguments.on);
  if (!place) return place.takeError();
  auto precision = arguments.precision.read();
  if (!precision) return precision.takeError();
  auto dump = arguments.flags.dump();
  if (!dump) return dump.takeError();
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  auto input_files = bind_inputs(*graph, arguments);
  if (!input_files) return input_files.takeError();
  auto output_files = bind_outputs(*graph, arguments);
  if (!output_files) return output_files.takeError();
  if (auto error = check_files(arguments, *input_files, *output_files)) return error;
  auto inputs = read_inputs(*graph, *input_files);
  if (!inputs) return inputs.takeError();
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : *inputs) pointers.push_back(&tensor);
  auto dims = bind_dims(*graph, pointers);
  if (!dims) return in_files(dims.takeError(), *input_files);
  auto options = arguments.flags.options(*place == Place::gpu ? Use::launch : Use::reports);
  if (!options) return options.takeError();
  options->precision = *precision;

  auto results = *place == Place::gpu
                     ? execute_on_gpu(*graph, *options, pointers, make_service(), dump->observer())
                     : execute_on_reference(*graph, pointers);
  if (auto error = dump->finish()) return llvm::joinErrors(results.takeError(), std::move(error));
  if (!results) return results.takeError();
  return write_outputs(*graph, *output_files, *results);
}

} // namespace

int run(int argc, char** argv) { return run_command(argc, argv, kOverview, run_file); }

} // namespace ingot::cli
