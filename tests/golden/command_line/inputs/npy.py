# SPDX-License-Identifier: Apache-2.0
"""Writes and shows small npy files (version 1.0) without NumPy.

write PATH TYPE EXTENTS VALUES | read PATH
"""
import ast
import struct
import sys

FORMATS = {"f4": "f", "f8": "d", "i4": "i", "i8": "q"}


def write(path, dtype, extents, values):
    shape = tuple(int(e) for e in extents.split(","))
    data = struct.pack(f"<{len(values.split(','))}{FORMATS[dtype]}", *(
        (float if dtype.startswith("f") else int)(v) for v in values.split(",")))
    header = str({"descr": "<" + dtype, "fortran_order": False, "shape": shape})
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    body = data[10 + size:]
    code = FORMATS[header["descr"][1:]]
    values = struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body)
    print(header["descr"], header["shape"], *values)


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
