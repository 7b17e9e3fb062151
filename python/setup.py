# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel around a library and a command line that were built before: INGOT_LIBRARY and
INGOT_PROGRAM, else those in build/."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LIBRARY = pathlib.Path(os.environ.get("INGOT_LIBRARY", BUILD / "libingot.so"))
PROGRAM = pathlib.Path(os.environ.get("INGOT_PROGRAM", BUILD / "bin" / "ingot"))


def needed_glibc():
    """The newest version of glibc that the two files name, as their dynamic string tables hold it;
    None where they name none."""
    versions = [tuple(map(int, version)) for path in (LIBRARY, PROGRAM)
                for version in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[.\0])", path.read_bytes())]
    return max(versions, default=None)


class WithLibrary(build_py):
    """Puts the library and the command line into the package."""

    def run(self):
        super().run()
        for path, variable, target in ((LIBRARY, "INGOT_LIBRARY", "libingot.so"),
                                       (PROGRAM, "INGOT_PROGRAM", "ingot")):
            if not path.is_file():
                sys.exit(f"{path}: expected Ingot's {path.name} there; build it (./dev wheel), or "
                         f"set {variable} to its path")
            packaged = pathlib.Path(self.build_lib, "ingot", target)
            shutil.copy(path, packaged)
            if shutil.which("strip"):
                subprocess.run(["strip", "--strip-unneeded", packaged], check=True)


class AnyPython(bdist_wheel):
    """The library is called through ctypes: one wheel for every Python 3, and for every Linux with
    the glibc that it needs or a later one."""

    def get_tag(self):
        glibc = needed_glibc()
        machine = platform.machine()
        return "py3", "none", (f"manylinux_{glibc[0]}_{glibc[1]}_{machine}" if glibc
                               else super().get_tag()[2])


class Binary(Distribution):
    """Not for every platform."""

    def has_ext_modules(self):
        return True


VERSION = re.search(r"project\(ingot VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
setup(version=VERSION[1], distclass=Binary,
      cmdclass={"build_py": WithLibrary, "bdist_wheel": AnyPython})
