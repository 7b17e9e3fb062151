# SPDX-License-Identifier: Apache-2.0
"""The package from a checkout, where nothing is installed: its library and its backend's name."""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

LIBRARY = BUILD / "libingot.so"
BACKEND = """
import warnings
{before}
import torch
warnings.simplefilter("ignore")
model = torch.compile(torch.nn.ReLU(), backend="ingot")
with torch.no_grad():
    print(model(torch.tensor([-1.0, 3.0])).tolist(), torch._dynamo.list_backends().count("ingot"))
"""


def run(code, *folders, library=LIBRARY):
    """A Python with these folders alone on its path."""
    env = {name: value for name, value in os.environ.items() if name != "INGOT_LIBRARY"}
    env["PYTHONPATH"] = os.pathsep.join(map(str, folders))
    if library is not None:
        env["INGOT_LIBRARY"] = str(library)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env,
                          check=False)


def checkout(folder):
    """The folder of packages of a checkout that has not been built."""
    shutil.copytree(ROOT / "python", folder / "python",
                    ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so"))
    return folder / "python"


def test_importing_the_module_tells_pytorch_the_backend():
    pytest.importorskip("torch")
    done = run(BACKEND.format(before="import ingot.torch"), ROOT / "python")
    assert done.stdout == "[0.0, 3.0] 1\n", done.stderr


@pytest.mark.parametrize("before", ["", "import ingot.torch"])
def test_the_entry_point_of_an_installed_package_goes_first(tmp_path, before):
    pytest.importorskip("torch")
    facts = tmp_path / "ingot-0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: ingot\nVersion: 0\n")
    (facts / "entry_points.txt").write_text("[torch_dynamo_backends]\n"
                                            "ingot = ingot.torch:backend\n")
    done = run(BACKEND.format(before=before), ROOT / "python", tmp_path)
    assert done.stdout == "[0.0, 3.0] 1\n", done.stderr


def test_a_checkout_names_the_library_that_it_built(tmp_path):
    packages = checkout(tmp_path)
    done = run("import ingot", packages, library=None)
    built = tmp_path / "build" / "libingot.so"
    assert f"this checkout has not built {built}: run ./dev build, then set INGOT_LIBRARY" in (
        done.stderr)
    built.parent.mkdir()
    built.symlink_to(LIBRARY)
    done = run("import ingot", packages, library=None)
    assert f"set INGOT_LIBRARY={built}, which this checkout built" in done.stderr
    assert run("import ingot", packages, library=built).returncode == 0


def test_a_wrong_name_of_the_library_is_told(tmp_path):
    done = run("import ingot", checkout(tmp_path), library=tmp_path / "nowhere.so")
    assert "cannot open Ingot's library that INGOT_LIBRARY names" in done.stderr
    assert "nowhere.so" in done.stderr


def test_an_installed_package_says_what_to_set(tmp_path):
    shutil.copytree(ROOT / "python" / "ingot", tmp_path / "ingot",
                    ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    done = run("import ingot", tmp_path, library=None)
    assert "install Ingot, or set INGOT_LIBRARY to the path of libingot.so" in done.stderr
