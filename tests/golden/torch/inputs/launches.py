# SPDX-License-Identifier: Apache-2.0
"""Compares the launches of an emitted PyTorch file with its manifest.

    launches.py [--refuses TEXT] CXX FILE.py FILE.json DIM=SIZE,... ...

The generated launcher is compiled for the CPU against a pretended CUDA runtime that prints every
call, once for each list of sizes and for three alignments; tools/launch_from_manifest.py gives
the expected calls. A pretended tensor map begins with a number made of all its inputs. With
--refuses the launcher must refuse each list with a message of that text.
"""
import ast
import ctypes
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
SPEC = importlib.util.spec_from_file_location("launcher", ROOT / "tools/launch_from_manifest.py")
launcher = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(launcher)

RUNTIME = r"""
#pragma once
#include <cstddef>
#include <cstdint>
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
using cudaStream_t = void*;
enum cudaError_t { cudaSuccess };
enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct { dim3 clusterDim; } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
                      cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaFuncAttributes { size_t sharedSizeBytes; };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return ""; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  const int values[] = {9, 0, 232448};
  *value = values[which];
  return cudaSuccess;
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
#define CUDART_VERSION 13000
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess };
enum { cudaEnableDefault };
void* driver_entry(const char* name);
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, int,
                                                    cudaDriverEntryPointQueryResult* result) {
  *found = driver_entry(name);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
"""

DRIVER = r"""
#pragma once
#include <cstdint>
using cuuint32_t = uint32_t;
using cuuint64_t = uint64_t;
struct alignas(64) CUtensorMap { uint64_t words[16]; };
enum CUresult { CUDA_SUCCESS };
enum CUtensorMapDataType { CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
                           CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9 };
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_128B = 3 };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
"""

ENCODER = r"""
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* tensor, const cuuint64_t* extents, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* ones,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  uint64_t number = 0;
  const auto add = [&](uint64_t value) { number = (number * 1000003 + value) % 2147483647; };
  for (uint64_t value : {uint64_t(type), uint64_t(rank), reinterpret_cast<uint64_t>(tensor)})
    add(value);
  for (cuuint32_t dim = 0; dim < rank; ++dim) add(extents[dim]);
  for (cuuint32_t dim = 0; dim + 1 < rank; ++dim) add(strides[dim]);
  for (cuuint32_t dim = 0; dim < rank; ++dim) add(box[dim]), add(ones[dim]);
  for (int value : {int(interleave), int(swizzle), int(promotion), int(fill)}) add(value);
  *map = {{number}};
  return CUDA_SUCCESS;
}
void* driver_entry(const char*) { return reinterpret_cast<void*>(&cuTensorMapEncodeTiled); }
"""

RECORDER = r"""
#include <cstdio>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* kernel, void** values) {
  for (const auto& entry : ingot_host::kEntries) {
    if (entry.kernel != kernel) continue;
    dim3 cluster;
    for (unsigned i = 0; i < c->numAttrs; ++i) cluster = c->attrs[i].val.clusterDim;
    std::printf("[\"%s\", [%u, %u, %u], [%u, %u, %u], %zu, [%u, %u, %u], [", entry.name,
                c->gridDim.x, c->gridDim.y, c->gridDim.z, c->blockDim.x, c->blockDim.y,
                c->blockDim.z, c->dynamicSmemBytes, cluster.x, cluster.y, cluster.z);
    for (int i = 0; i < arguments_of(entry.name); ++i)
      std::printf("%s%lld", i ? ", " : "", *static_cast<long long*>(values[i]));
    std::printf("]]\n");
    break; // equal kernels have the same entries
  }
  return cudaSuccess;
}
"""


def strings_of(path):
    """The module's constants that are strings."""
    tree = ast.parse(pathlib.Path(path).read_text())
    return {node.targets[0].id: node.value.value for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)}


def addresses(manifest, alignment):
    names = [t["name"] for role in ("inputs", "params", "outputs") for t in manifest[role]]
    names += ["prepared", "workspace", "state"]
    return {name: (i + 1 << 32) + alignment for i, name in enumerate(names)}


class PretendedDriver:
    """Makes the tensor maps of ENCODER."""

    def call(self, name, to, dtype, rank, tensor, extents, strides, box, ones, *rest):
        assert name == "cuTensorMapEncodeTiled"
        values = [dtype, rank, tensor.value, *extents, *strides]
        for pair in zip(box, ones):
            values += pair
        number = 0
        for value in [*values, *rest]:
            number = (number * 1000003 + value) % 2147483647
        ctypes.c_uint64.from_address(to.value).value = number


def expected_calls(manifest, sizes, pointers):
    plan = launcher.Plan.__new__(launcher.Plan)
    plan.manifest, plan.names, plan.pointers = manifest, sizes, pointers
    plan.driver = PretendedDriver()
    kernels = {kernel["name"]: kernel for kernel in manifest["kernels"]}

    def number(expression):
        return launcher.evaluate(expression, plan.names)

    def word(argument, arguments):
        if argument["kind"] != "tensormap":
            return plan.argument(argument)
        address, memory = plan.tensor_map(argument, arguments)
        assert len(memory) >= 128
        return ctypes.c_uint64.from_address(address).value

    for program in ("prepare", "launch"):
        for step in manifest["programs"][program]["steps"]:
            variant = next(v for v in kernels[step["kernel"]]["variants"]
                           if all(plan.holds(p, v["arguments"]) for p in v["when"]))
            grid = [number(extent) for extent in variant["grid"]]
            if 0 not in grid:
                yield [variant["entry"], grid, [number(extent) for extent in variant["block"]],
                       number(variant["shared_bytes"]), variant["cluster"],
                       [word(argument, variant["arguments"]) for argument in variant["arguments"]]]


def program_text(strings, manifest, cases):
    variants = [v for kernel in manifest["kernels"] for v in kernel["variants"]]
    text = strings["INTERFACE"] + "#include <cstring>\n"
    for entry in {v["entry"] for v in variants}:
        text += f"namespace {entry.rsplit('_v', 1)[0]} {{ void {entry}() {{}} }}\n"
    text += "static int arguments_of(const char* name) {\n"
    text += "".join(f"  if (!std::strcmp(name, \"{v['entry']}\")) return {len(v['arguments'])};\n"
                    for v in variants)
    launching = strings["KERNELS"].split("// ---- launching\n")[1]
    text += "  return 0;\n}\n" + launching + RECORDER
    text += ENCODER if "cuda.h" in launching else "void* driver_entry(const char*) { return 0; }\n"
    text += "int main() try {\n"
    for sizes, pointers in cases:
        text += "  {\n    ingot_host::Call call;\n    ingot_host::set_device(call, 0);\n"
        text += "".join(f"    call.dim_{name} = {size};\n" for name, size in sizes.items())
        for role in ("input", "param", "output"):
            text += "".join(f"    call.{role}_{t['name']} = {pointers[t['name']]}ull;\n"
                            for t in manifest[role + "s"])
        text += "".join(f"    call.{memory} = {pointers[memory]}ull;\n"
                        for memory in ("prepared", "workspace", "state"))
        text += "    check_sizes(call);\n" if manifest.get("at_least_0") else ""
        text += "    run_prepare(call);\n    run_launch(call);\n  }\n"
    return text + "} catch (const std::exception& e) { std::puts(e.what()); }\n"


def printed(compiler, strings, manifest, cases):
    """The output of the launcher for these cases."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "main.cpp"), pathlib.Path(folder, "main")
        pathlib.Path(folder, "cuda_runtime.h").write_text(RUNTIME)
        pathlib.Path(folder, "cuda.h").write_text(DRIVER)
        source.write_text(program_text(strings, manifest, cases))
        subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Wno-unused-function",
                        "-I", folder, "-o", binary, source], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout


def main():
    refusal = sys.argv[2] if sys.argv[1] == "--refuses" else None
    compiler, module, manifest_path, *lists = sys.argv[3 if refusal else 1:]
    manifest = json.loads(pathlib.Path(manifest_path).read_text())
    cases = []
    for text in lists or [""]:
        sizes = {name: int(size) for name, size in
                 (pair.split("=") for pair in text.split(",") if pair)}
        cases += [(sizes, addresses(manifest, alignment)) for alignment in (0, 8, 4)]
    if refusal:
        texts = [printed(compiler, strings_of(module), manifest, [case]) for case in cases[::3]]
        print("".join(texts))
        return 0 if all(text.startswith("ingot: ") and refusal in text for text in texts) else 1
    output = printed(compiler, strings_of(module), manifest, cases)
    got = [json.loads(line) for line in output.splitlines()]
    expected = [call for sizes, pointers in cases
                for call in expected_calls(manifest, sizes, pointers)]
    for at, (a, b) in enumerate(zip(got, expected)):
        if a != b:
            print(f"call {at}: expected {b}\n       got {a}")
            return 1
    if len(got) != len(expected):
        print(f"expected {len(expected)} calls, got {len(got)}")
        return 1
    print(f"{len(got)} calls are alike")
    return 0


if __name__ == "__main__":
    sys.exit(main())
