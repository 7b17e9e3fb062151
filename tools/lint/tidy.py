# SPDX-License-Identifier: Apache-2.0
"""clang-tidy 19, which .clang-tidy configures, is silent. A file is run again only when it, one of
our headers below it, its command or the configuration changed."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

from common import ROOT, Finding

COMMAND = "clang-tidy-19"
FOLDERS = ("src/", "ir/", "codegen/", "runtime/", "tools/", "examples/", "tests/")
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
REPORT = re.compile(r"^(.+?):(\d+):\d+: (?:warning|error): (.*)$", re.MULTILINE)


def closure(path, root, seen):
    """Adds `path` and all files of ours that it includes to `seen`, as {path: bytes}."""
    if path in seen or not (root / path).is_file():
        return
    seen[path] = (root / path).read_bytes()
    for name in INCLUDE.findall(seen[path]):
        for folder in ("", "include/"):
            closure(folder + name.decode(errors="replace"), root, seen)


def digest(path, command, root, version):
    """A digest of all that the verdict on one file depends on."""
    seen = {}
    closure(path, root, seen)
    state = hashlib.sha256()
    parts = [version.encode(), command.encode()]
    for folder in pathlib.PurePosixPath(path).parents:
        if (root / folder / ".clang-tidy").is_file():
            parts.append((root / folder / ".clang-tidy").read_bytes())
    for part in parts + [part for item in sorted(seen.items()) for part in
                         (item[0].encode(), item[1])]:
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


def run_one(path, build, root):
    """The findings of one file."""
    result = subprocess.run([COMMAND, "--quiet", "-p", str(build), path], cwd=root,
                            capture_output=True, text=True, check=False)
    found = []
    for where, line, message in REPORT.findall(result.stdout):
        found.append(Finding(os.path.relpath(root / where, root), int(line), message))
    if result.returncode != 0 and not found:
        found.append(Finding(path, 1, result.stderr.strip()))
    return found


def without_launcher(command):
    """The compiler's own command line, without the ccache before it."""
    words = shlex.split(command)
    for index, word in enumerate(words):
        if re.fullmatch(r"(.*/)?(c|g|clang)\+\+(-[0-9.]+)?", word):
            return words[index:]
    return words


def check(build, root=ROOT):
    """Findings of every file that compile_commands.json lists, without repeats from headers."""
    build = pathlib.Path(build).resolve()
    done = build / "tidy"
    done.mkdir(exist_ok=True)
    version = subprocess.run([COMMAND, "--version"], capture_output=True, text=True,
                             check=True).stdout
    todo, commands = {}, []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        arguments = without_launcher(entry["command"])
        commands.append({"directory": entry["directory"], "file": entry["file"],
                         "arguments": arguments})
        if path.startswith(FOLDERS) and (root / path).is_file():
            mark = done / digest(path, shlex.join(arguments), root, version)
            if not mark.exists():
                todo[path] = mark
    (done / "compile_commands.json").write_text(json.dumps(commands))
    print(f"   clang-tidy: {len(todo)} files changed", flush=True)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {path: pool.submit(run_one, path, done, root) for path in todo}
        for path, run in runs.items():
            if not run.result():
                todo[path].touch()
            found.update((str(finding), finding) for finding in run.result())
    return list(found.values())
