#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prepares and launches a graph from its manifest and code file alone, with the CUDA driver.

    launch_from_manifest.py OUT.json --input x=x.npy ... --output y=y.npy ...

It links nothing of Ingot and uses the standard library only: it shows the code of an embedder, and
tests that a manifest says everything. bf16 tensors are .npy files of 16-bit integers.
"""
import argparse
import ast
import ctypes
import json
import math
import operator
import pathlib
import struct
import sys

NPY_TYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i32": "<i4", "i64": "<i8", "bool": "|b1"}
DTYPE_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i64": 8, "bool": 1}

# CUDA driver enumerations.
STATIC_SHARED, MAX_DYNAMIC_SHARED = 1, 8
ATTRIBUTE_CLUSTER = 4
MAP_TYPES = {"f16": 6, "f32": 7, "bf16": 9, "tf32": 11}  # the arguments of cuTensorMapEncodeTiled
NOT_INTERLEAVED, SWIZZLE_128_BYTES, PROMOTE_256_BYTES, FILL_WITH_ZEROS = 0, 3, 3, 0


class Failure(Exception):
    """Something that the user can mend."""


# --- npy ----------------------------------------------------------------------------------------


def read_npy(path, dtype):
    """(shape, bytes) of a C-ordered little-endian array."""
    data = pathlib.Path(path).read_bytes()
    if data[:6] != b"\x93NUMPY":
        raise Failure(f"{path}: not a .npy file")
    wide = data[6] >= 2
    size = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = 12 if wide else 10
    header = ast.literal_eval(data[start:start + size].decode("latin1"))
    if header["fortran_order"]:
        raise Failure(f"{path}: expected C order")
    if header["descr"] != NPY_TYPES[dtype]:
        raise Failure(f"{path}: expected {NPY_TYPES[dtype]} for {dtype}, got {header['descr']}")
    values = data[start + size:]
    shape = list(header["shape"])
    if len(values) != math.prod(shape) * DTYPE_BYTES[dtype]:
        raise Failure(f"{path}: its size does not fit its shape")
    return shape, values


def write_npy(path, dtype, shape, values):
    sizes = "".join(f"{extent}, " for extent in shape)
    header = f"{{'descr': '{NPY_TYPES[dtype]}', 'fortran_order': False, 'shape': ({sizes}), }}"
    header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
    pathlib.Path(path).write_bytes(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)


# --- expressions --------------------------------------------------------------------------------

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.floordiv, ast.Mod: operator.mod}
FUNCTIONS = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}


def evaluate(expression, names):
    """The value of a manifest expression: a number, or text over names."""
    def walk(node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.UnaryOp):
            return -walk(node.operand)
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*map(walk, node.args))
        return names[ast.unparse(node)]
    if isinstance(expression, int):
        return expression
    return walk(ast.parse(expression, mode="eval").body)


def names_of(expression):
    """The names that a manifest expression reads."""
    return {node.id for node in ast.walk(ast.parse(str(expression), mode="eval"))
            if isinstance(node, ast.Name)}


def sole_unknown(expression, names):
    """(name, factor, constant) of an extent that is factor * name + constant, where that is the one
    name in it without a value; else None."""
    unknown = [name for name in names_of(expression) if name not in names]
    if len(unknown) != 1:
        return None

    def walk(node):
        """(factor, constant); None of another function."""
        if isinstance(node, ast.Name) and node.id == unknown[0]:
            return 1, 0
        text = ast.unparse(node)
        if unknown[0] not in names_of(text):
            return 0, evaluate(text, names)
        if not isinstance(node, ast.BinOp):
            return None
        a, b = walk(node.left), walk(node.right)
        if not a or not b:
            return None
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return tuple(map(OPERATORS[type(node.op)], a, b))
        if isinstance(node.op, ast.Mult) and not (a[0] and b[0]):
            return a[0] * b[1] + b[0] * a[1], a[1] * b[1]
        return None
    linear = walk(ast.parse(str(expression), mode="eval").body)
    return (unknown[0], *linear) if linear and linear[0] != 0 else None


# --- driver -------------------------------------------------------------------------------------


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute; the value is padded to 64 bytes."""
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("num_attributes", ctypes.c_uint)]


class Driver:
    """libcuda with the primary context of GPU 0; every call is checked."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Failure(f"no CUDA driver: {error}") from error
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise Failure(f"{name} failed: {status} {(text.value or b'').decode()}")

    def allocate(self, num_bytes):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(num_bytes, 1)))
        return pointer.value

    def upload(self, values):
        pointer = self.allocate(len(values))
        if values:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(pointer), values,
                      ctypes.c_size_t(len(values)))
        return pointer

    def download(self, pointer, num_bytes):
        values = ctypes.create_string_buffer(max(num_bytes, 1))
        if num_bytes:
            self.call("cuMemcpyDtoH_v2", values, ctypes.c_uint64(pointer),
                      ctypes.c_size_t(num_bytes))
        return values.raw[:num_bytes]

    def fill(self, pointer, value, num_bytes):
        if num_bytes:
            self.call("cuMemsetD8Async", ctypes.c_uint64(pointer), ctypes.c_ubyte(value),
                      ctypes.c_size_t(num_bytes), None)


class Plan:
    """A manifest with its loaded code, on one device."""

    def __init__(self, path, driver):
        self.manifest = json.loads(pathlib.Path(path).read_text())
        if self.manifest.get("format") != "ingot-manifest" or self.manifest["version"] != 4:
            raise Failure(f"{path}: expected an ingot-manifest of version 4")
        code = self.manifest["code"]
        if code["kind"] not in ("ptx", "cubin"):
            raise Failure(f"{path}: its code is {code['kind']}, expected ptx or cubin")
        self.driver = driver
        image = pathlib.Path(path).parent.joinpath(code["file"]).read_bytes() + b"\0"
        self.library = ctypes.c_void_p()
        driver.call("cuLibraryLoadData", ctypes.byref(self.library), image, None, None, 0, None,
                    None, 0)
        self.kernels = {kernel["name"]: kernel for kernel in self.manifest["kernels"]}
        self.names, self.pointers = {}, {}

    def solve(self, tensors, shapes):
        """Takes named dimensions from shapes and checks every extent. A name that stands alone is
        the extent; then extents with one unknown name give its value, until none is left."""
        extents = []
        for tensor in tensors:
            shape = shapes[tensor["name"]]
            if len(shape) != len(tensor["shape"]):
                raise Failure(f"{tensor['name']}: expected {len(tensor['shape'])} dimensions")
            extents += [(tensor, *pair) for pair in zip(tensor["shape"], shape)]
        for _, extent, size in extents:
            if isinstance(extent, str) and extent.isidentifier():
                self.names.setdefault(extent, size)
        while self.solve_extent(extents):
            pass
        for tensor, extent, size in extents:
            unknown = [dim["name"] for dim in self.manifest["dims"]
                       if dim["name"] not in self.names
                       and dim["name"] in names_of(extent)]
            if unknown:
                raise Failure(f"{tensor['name']}: '{extent}' has no value, as no shape gives "
                              f"{', '.join(unknown)}; got {size}")
        for extent in self.manifest.get("at_least_0", []):
            value = evaluate(extent, self.names)
            if value < 0:
                sizes = [f"{name} is {self.names[name]}" for name in sorted(names_of(extent))]
                raise Failure(f"{extent} is {value}, expected at least 0; {', '.join(sizes)}")
        for tensor in tensors:
            expected = [evaluate(extent, self.names) for extent in tensor["shape"]]
            if expected != shapes[tensor["name"]]:
                raise Failure(f"{tensor['name']}: expected shape {expected}, "
                              f"got {shapes[tensor['name']]}")

    def solve_extent(self, extents):
        """Whether some extent gave a name its value."""
        for tensor, extent, size in extents:
            unknown = sole_unknown(extent, self.names)
            if unknown is None:
                continue
            name, factor, constant = unknown
            if (size - constant) % factor != 0 or (size - constant) // factor < 0:
                raise Failure(f"{tensor['name']}: expected {extent} for a size {name} of at least "
                              f"0, got {size}")
            self.names[name] = (size - constant) // factor
            return True
        return False

    def argument(self, argument):
        """The 8-byte value of an argument."""
        if argument["kind"] == "dim":
            return evaluate(argument["value"], self.names)
        base = self.pointers[argument.get("name") or argument["kind"]]
        return base + evaluate(argument.get("offset", 0), self.names)

    def tensor_map(self, argument, arguments):
        """The address of the tensor map of an argument, and the memory that holds it."""
        memory = ctypes.create_string_buffer(128 + 64)
        address = (ctypes.addressof(memory) + 63) // 64 * 64
        extents = [evaluate(extent, self.names) for extent in argument["extents"]]
        if 0 in extents:
            return address, memory  # no copy reads a tensor without elements
        if max(extents) >= 2**31:
            raise Failure(f"no tensor map of {extents}: expected fewer than 2^31 elements along "
                          "each dimension")
        strides = [evaluate(stride, self.names) for stride in argument["strides"]]
        tensor = self.argument(arguments[argument["argument"]])
        tensor += evaluate(argument.get("offset", 0), self.names)
        ones = (ctypes.c_uint32 * 3)(1, 1, 1)
        self.driver.call("cuTensorMapEncodeTiled", ctypes.c_void_p(address),
                         MAP_TYPES[argument["dtype"]], 3, ctypes.c_void_p(tensor),
                         (ctypes.c_uint64 * 3)(*extents), (ctypes.c_uint64 * 2)(*strides),
                         (ctypes.c_uint32 * 3)(*argument["box"]), ones, NOT_INTERLEAVED,
                         SWIZZLE_128_BYTES, PROMOTE_256_BYTES, FILL_WITH_ZEROS)
        return address, memory

    def holds(self, predicate, arguments):
        if predicate["kind"] == "aligned":
            return self.argument(arguments[predicate["argument"]]) % predicate["number"] == 0
        return evaluate(predicate["value"], self.names) % predicate["number"] == 0

    def launch(self, kernel):
        variant = next((variant for variant in kernel["variants"]
                        if all(self.holds(p, variant["arguments"]) for p in variant["when"])), None)
        if variant is None:
            raise Failure(f"no variant of {kernel['name']} fits these sizes")
        handle = ctypes.c_void_p()
        self.driver.call("cuLibraryGetKernel", ctypes.byref(handle), self.library,
                         variant["entry"].encode())
        shared = evaluate(variant["shared_bytes"], self.names)
        self.driver.call("cuKernelSetAttribute", MAX_DYNAMIC_SHARED, shared, handle,
                         self.driver.device)
        config = LaunchConfig()
        for axis in range(3):
            config.grid[axis] = evaluate(variant["grid"][axis], self.names)
            config.block[axis] = evaluate(variant["block"][axis], self.names)
        if 0 in config.grid:
            return
        config.shared_bytes = shared
        attribute = LaunchAttribute(id=ATTRIBUTE_CLUSTER)
        config.attributes = ctypes.pointer(attribute)
        if variant["cluster"] != [1, 1, 1]:
            attribute.value[:3] = variant["cluster"]
            config.num_attributes = 1
        given = variant["arguments"]
        maps = {i: self.tensor_map(a, given) for i, a in enumerate(given)
                if a["kind"] == "tensormap"}
        values = {i: ctypes.c_uint64(self.argument(a) % 2**64) for i, a in enumerate(given)
                  if i not in maps}
        pointers = (ctypes.c_void_p * max(len(given), 1))(
            *(maps[i][0] if i in maps else ctypes.addressof(values[i])
              for i in range(len(given))))
        self.driver.call("cuLaunchKernelEx", ctypes.byref(config), handle, pointers, None)

    def run(self, program):
        for step in self.manifest["programs"][program]["steps"]:
            self.launch(self.kernels[step["kernel"]])


def run(arguments):
    """Reads, uploads, prepares, launches, downloads, writes."""
    plan = Plan(arguments.manifest, Driver())
    manifest, driver = plan.manifest, plan.driver
    files = dict(pair.split("=", 1) for pair in arguments.input)
    results = dict(pair.split("=", 1) for pair in arguments.output)
    given = manifest["inputs"] + manifest["params"]
    missing = [tensor["name"] for tensor in given if tensor["name"] not in files]
    if missing:
        raise Failure(f"no --input for {', '.join(missing)}")
    arrays = {tensor["name"]: read_npy(files[tensor["name"]], tensor["dtype"]) for tensor in given}
    plan.solve(given, {name: shape for name, (shape, _) in arrays.items()})

    for name, (_, values) in arrays.items():
        plan.pointers[name] = driver.upload(values)
    shapes = {tensor["name"]: [evaluate(extent, plan.names) for extent in tensor["shape"]]
              for tensor in manifest["outputs"]}
    sizes = {tensor["name"]: math.prod(shapes[tensor["name"]]) * DTYPE_BYTES[tensor["dtype"]]
             for tensor in manifest["outputs"]}
    for name, num_bytes in sizes.items():
        plan.pointers[name] = driver.allocate(num_bytes)
        driver.fill(plan.pointers[name], 0xFF, num_bytes)  # not a number until it is written
    for name, memory in manifest["memory"].items():
        num_bytes = evaluate(memory["bytes"], plan.names)
        plan.pointers[name] = driver.allocate(num_bytes)
        driver.fill(plan.pointers[name], 0 if name == "state" else 0xFF, num_bytes)

    plan.run("prepare")
    for _ in range(arguments.repeat):
        plan.run("launch")
    driver.call("cuCtxSynchronize")
    for tensor in manifest["outputs"]:
        name = tensor["name"]
        if name in results:
            write_npy(results[name], tensor["dtype"], shapes[name],
                      driver.download(plan.pointers[name], sizes[name]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("manifest")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy")
    parser.add_argument("--output", action="append", default=[], metavar="NAME=FILE.npy")
    parser.add_argument("--repeat", type=int, default=1, help="launches; the last one's results")
    try:
        run(parser.parse_args())
    except (Failure, OSError) as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
