# SPDX-License-Identifier: Apache-2.0
"""The wheel: one file for every Python, that works away from the source tree."""
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

pytest.importorskip("setuptools")
pytest.importorskip("pip")
pytest.importorskip("wheel")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import importlib.metadata, ingot
assert "site" in ingot.__file__, ingot.__file__
print(ingot.compile("graph g(x: f32[m, 64]) { return softmax(x) }", device="a100").num_kernels)
entries = importlib.metadata.distribution("ingot").entry_points
print([entry.value for entry in entries if entry.group == "torch_dynamo_backends"])
"""


def test_wheel(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "python", source / "python",
                    ignore=shutil.ignore_patterns("build", "__pycache__", "*.egg-info"))
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / name, source)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                    "--no-build-isolation", "-w", tmp_path, source / "python"], check=True)
    wheel, = tmp_path.glob("*.whl")
    assert "-py3-none-linux_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "ingot/libingot.so" in names and "ingot/py.typed" in names
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target",
                    tmp_path / "site", wheel], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "INGOT_LIBRARY"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                          check=False, cwd=tmp_path,
                          env={**environment, "PYTHONPATH": str(tmp_path / "site")})
    assert done.stdout.split() == ["1", "['ingot.torch:backend']"], done.stdout + done.stderr
