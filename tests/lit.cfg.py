# SPDX-License-Identifier: Apache-2.0
# lit suites golden/ and error/: each file holds RUN lines and FileCheck lines in its comments.
# Parameters come from tests/CMakeLists.txt.
import ctypes
import glob
import os
import sys

import lit.formats

build = lit_config.params["build"]
config.name = "ingot"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ingot", ".test"]
config.excludes = ["inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "tests", "lit")
config.substitutions += [
    ("%ingot", lit_config.params["ingot"]),
    ("%embed", os.path.join(os.path.dirname(lit_config.params["ingot"]), "example_embed")),
    ("%examples", os.path.join(config.test_source_root, "..", "examples")),
    ("%python", sys.executable),
    ("%cxx", lit_config.params["cxx"]),
    (r"\bFileCheck\b", lit_config.params["filecheck"]),
    (r"\bnot\b", os.path.join(os.path.dirname(lit_config.params["filecheck"]), "not")),
]
# Nothing of the caller's settings may reach the outputs that are compared.
for name in [n for n in config.environment if n.startswith("INGOT_")]:
    del config.environment[name]
config.environment["INGOT_CACHE_DIR"] = os.path.join(build, "tests", "cache")
for name in ("INGOT_NVRTC_PATH", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def can_open(*patterns):
    """Whether one of the libraries, given by name or by a path with wildcards, opens."""
    for pattern in filter(None, patterns):
        for path in glob.glob(pattern) if "/" in pattern else [pattern]:
            try:
                ctypes.CDLL(path)
                return True
            except OSError:
                continue
    return False


# `REQUIRES: nvrtc` and `UNSUPPORTED: nvrtc` in a file select by machine.
if can_open(os.environ.get("INGOT_NVRTC_PATH", ""), "libnvrtc.so.13", "libnvrtc.so.12",
            "/usr/local/cuda*/lib64/libnvrtc.so*", build + "/nvidia/*/lib/libnvrtc.so*",
            os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/lib64/libnvrtc.so*"):
    config.available_features.add("nvrtc")
