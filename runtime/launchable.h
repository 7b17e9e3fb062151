// SPDX-License-Identifier: Apache-2.0
// An object that can be prepared and launched: one module with its code, or a bundle, which has a
// module for each card. Executable and BundleExecutable implement it; the public API uses it.
#pragma once

#include "codegen/program/program.h"
#include "runtime/launch_check.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace ingot {

/// Bytes and alignments of the memories that the caller owns.
struct MemorySizes {
  struct Size {
    int64_t bytes = 0;
    int64_t alignment = 1;
  };
  Size prepared;  ///< per parameter set; read-only after prepare
  Size workspace; ///< per launch in flight; undefined on entry
  Size state;     ///< per launch in flight; zeroed once by the caller, restored by launches
};

struct PrepareRequest {
  /// Sizes of later launches: a value (least == most) or a range per named dimension. A dimension
  /// that is not listed takes its whole declared range.
  std::vector<DimInfo> dims;
  llvm::ArrayRef<TensorArgument> params; ///< may be empty if the prepare program has no steps
  DevicePointer prepared = 0;
  DevicePointer workspace = 0;
  Stream stream = nullptr;
};

struct LaunchRequest {
  llvm::ArrayRef<TensorArgument> inputs;
  llvm::ArrayRef<TensorArgument> params;
  llvm::ArrayRef<TensorArgument> outputs;
  DevicePointer prepared = 0;
  DevicePointer workspace = 0;
  DevicePointer state = 0;
  Stream stream = nullptr;
};

class Launchable {
public:
  virtual ~Launchable() = default;

  /// The module that launches on the current device run; before prepare, a module that they may
  /// run. Its name, dims and tensors are the same on every device.
  virtual const Module& module() const = 0;

  /// The largest memory sizes that launches within `dims` need. Needs no GPU.
  virtual llvm::Expected<MemorySizes> memory(llvm::ArrayRef<DimInfo> dims) const = 0;

  /// Loads the variants that `request.dims` and aligned tensors may need on the current context's
  /// device, then enqueues the prepare program on the stream. May be called again: for further
  /// sizes, another parameter set (with prepared memory of its own), another device, or after
  /// writing to a param. Thread-safe.
  virtual llvm::Error prepare(const PrepareRequest& request) = 0;

  /// Enqueues the launch program on the stream. It compiles, allocates and waits for nothing, and
  /// may be captured in a CUDA graph. Two exceptions: the first launch with a tensor that is
  /// aligned to less than kExpectedAlignment may compile and load the kernels for it, so launch
  /// once before a capture; and a fifth launch at the same time allocates. Thread-safe. Tensors
  /// stand in the module's order.
  virtual llvm::Error launch(const LaunchRequest& request) const = 0;
};

} // namespace ingot
