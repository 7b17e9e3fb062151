# SPDX-License-Identifier: Apache-2.0
"""The wheel: one file for every Python and every Linux that is new enough, that works away from the
source tree, with the command line."""
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from conftest import BUILD, ROOT

pytest.importorskip("setuptools")
pytest.importorskip("pip")
pytest.importorskip("wheel")

PROGRAM = """
import importlib.metadata, ingot
assert "site-packages" in ingot.__file__, ingot.__file__
print(ingot.compile("graph g(x: f32[m, 64]) { return softmax(x) }", device="a100").num_kernels)
entries = importlib.metadata.distribution("ingot").entry_points
print([entry.value for entry in entries if entry.group == "torch_dynamo_backends"])
"""
WITHOUT_OWN = {name: value for name, value in os.environ.items()
               if name not in ("INGOT_LIBRARY", "PYTHONPATH")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The path of a wheel of this build."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "python", folder / "source" / "python",
                    ignore=shutil.ignore_patterns("build", "__pycache__", "*.egg-info"))
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / name, folder / "source")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                    "--no-build-isolation", "-w", folder, folder / "source" / "python"], check=True,
                   env={**os.environ, "INGOT_LIBRARY": str(BUILD / "libingot.so"),
                        "INGOT_PROGRAM": str(BUILD / "bin" / "ingot")})
    path, = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of programs of an environment with the wheel alone."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    subprocess.run([sys.executable, "-m", "pip", "--python", folder / "bin" / "python3", "install",
                    "--quiet", "--no-deps", "--no-index", wheel], check=True)
    return folder / "bin"


def run(*command, **named):
    return subprocess.run(command, capture_output=True, text=True, check=False, env=WITHOUT_OWN,
                          **named)


def test_the_tag_is_the_glibc_that_it_needs(wheel):
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("readelf is missing")
    needed = set()
    for path in (BUILD / "libingot.so", BUILD / "bin" / "ingot"):
        text = run(readelf, "--version-info", "--wide", path).stdout
        needed |= {tuple(map(int, version.split(".")))
                   for version in re.findall(r"Name: GLIBC_([0-9.]+)", text)}
    major, minor = max(needed)[:2]
    assert wheel.name.endswith(f"-py3-none-manylinux_{major}_{minor}_{platform.machine()}.whl")
    assert (major, minor) <= (2, 36)


def test_contents(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        is_executable = file.getinfo("ingot/ingot").external_attr >> 16 & 0o111
        tags = file.read(next(name for name in names if name.endswith("/WHEEL"))).decode()
    assert {"ingot/libingot.so", "ingot/py.typed", "ingot/_methods.pyi", "ingot/specs.py",
            "ingot/torch/rules/__init__.py"} <= set(names)
    assert is_executable and "Tag: py3-none-manylinux_" in tags
    package = {path.relative_to(ROOT / "python").as_posix()
               for path in (ROOT / "python" / "ingot").rglob("*.py*") if path.suffix != ".pyc"}
    assert package <= set(names)


def test_the_package_works_away_from_the_source_tree(installed, tmp_path):
    done = run(installed / "python3", "-c", PROGRAM, cwd=tmp_path)
    assert done.stdout.split() == ["1", "['ingot.torch:backend']"], done.stdout + done.stderr


def test_the_command_line_works(installed, tmp_path):
    wanted = run(BUILD / "bin" / "ingot", "version").stdout.splitlines()[0]
    for command in ([installed / "ingot"], [installed / "python3", "-m", "ingot"]):
        done = run(*command, "version", cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.splitlines()[0] == wanted, done.stderr
        done = run(*command, "explain", "-", cwd=tmp_path,
                   input="graph g(x: f32[4, 64]) { return softmax(x) }")
        assert done.returncode == 0 and done.stdout.startswith("g: 1 kernel"), done.stderr
        assert run(*command, "nonsense", cwd=tmp_path).returncode not in (0, 127)


def test_a_tree_without_the_command_line_says_where_it_is():
    done = subprocess.run([sys.executable, "-m", "ingot", "version"], capture_output=True,
                          text=True, check=False, cwd=ROOT / "python")
    assert done.returncode == 1 and "build/bin/ingot" in done.stderr
