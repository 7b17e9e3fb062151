# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel around a libingot.so that was built before: INGOT_LIBRARY, else build/'s."""
import os
import pathlib
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
LIBRARY = pathlib.Path(os.environ.get("INGOT_LIBRARY", ROOT / "build" / "libingot.so"))


class WithLibrary(build_py):
    """Puts the library into the package."""

    def run(self):
        super().run()
        if not LIBRARY.is_file():
            sys.exit(f"{LIBRARY}: expected Ingot's library there; build it (./dev build), or set "
                     "INGOT_LIBRARY to its path")
        packaged = pathlib.Path(self.build_lib, "ingot", "libingot.so")
        shutil.copy(LIBRARY, packaged)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", packaged], check=True)


class AnyPython(bdist_wheel):
    """The library is called through ctypes: one wheel for every Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    """Not for every platform."""

    def has_ext_modules(self):
        return True


VERSION = re.search(r"project\(ingot VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
setup(version=VERSION[1], distclass=Binary,
      cmdclass={"build_py": WithLibrary, "bdist_wheel": AnyPython})
