#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the programs of docs/embedding.md: embedding.py BUILD CXX CC [PYTHON].

Where there is no GPU, C and C++ must end with the message that says so, and Python's that use one
are compiled only. The others run, by PYTHON or the environment of ./dev setup, where that has
PyTorch.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "embedding.md").read_text()
MOST_LINES = 29
USES_GPU = re.compile(r'device="cuda"|\.cuda\(\)')


def has_gpu():
    try:
        return "GPU 0" in subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True,
                                         check=False).stdout
    except OSError:
        return False


def python_of(build, given):
    """A Python with PyTorch and numpy, or None."""
    own = build / "python" / "bin" / "python3"
    for python in given or [sys.executable, *([str(own)] if own.exists() else [])]:
        done = subprocess.run([python, "-c", "import numpy, torch"], capture_output=True,
                              check=False)
        if done.returncode == 0:
            return python
    return None


def run(command, expected, where):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=where,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    text = done.stdout + done.stderr
    if expected is None:
        good = done.returncode != 0 and "no CUDA driver" in text or "GPU" in text
    else:
        good = done.returncode == 0 and all(line in text for line in expected)
    if not good:
        sys.exit(f"{command}: exit status {done.returncode}, expected {expected}:\n{text}")
    print(f"{pathlib.Path(command[0]).name}: {' '.join(text.split())[:200]}")


def main():
    build, compilers = pathlib.Path(sys.argv[1]).resolve(), {"c++": sys.argv[2], "c": sys.argv[3]}
    python = python_of(build, sys.argv[4:5])
    os.environ.setdefault("INGOT_LIBRARY", str(build / "libingot.so"))
    flags = {"c++": ["-std=c++20"], "c": ["-std=c99"]}
    blocks = re.findall(r"^```(c\+\+|c|python)\n(.*?)^```$", PAGE, flags=re.M | re.S)
    if len(blocks) < 5:
        sys.exit(f"docs/embedding.md: expected at least 5 programs, got {len(blocks)}")
    on_gpu = has_gpu()
    with tempfile.TemporaryDirectory() as folder:
        for i, (language, text) in enumerate(blocks):
            if text.count("\n") > MOST_LINES:
                sys.exit(f"docs/embedding.md, program {i}: {text.count(chr(10))} lines")
            expected = re.findall(r"(?://|/\*|#) (64(?:\.0)?|True)(?: \*/)?$", text, flags=re.M)
            suffix = {"python": "py", "c++": "cpp"}.get(language, language)
            source = pathlib.Path(folder, f"program{i}.{suffix}")
            source.write_text(text)
            if language == "python":
                compile(text, str(source), "exec")
                if python and (on_gpu or not USES_GPU.search(text)):
                    run([python, str(source)], expected, folder)
                else:
                    print(f"program {i}: compiled only, as there is no "
                          f"{'GPU' if python else 'PyTorch'}")
                continue
            program = pathlib.Path(folder, f"program{i}")
            subprocess.run([compilers[language], *flags[language], "-Wall", str(source), "-o",
                            str(program), f"-I{ROOT / 'include'}", f"-L{build}", "-lingot",
                            f"-Wl,-rpath,{build}"], check=True)
            run([str(program)], expected if on_gpu else None, folder)
    if not on_gpu:
        print("there is no GPU: nothing was launched on one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
