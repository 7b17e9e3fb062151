#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the source checks and prints their findings; exit status 1 when there are any.

  run.py [--build FOLDER] [--fix] [CHECK...]

Without names all checks run. --fix formats in place. ./dev lint and ctest call it.
"""
import argparse
import sys

import common
import format as format_check
import layers
import python_source
import size
import spelling
import stages
import text
import tidy
import type_names

PER_FILE = {"layers": layers, "stages": stages, "size": size, "text": text}
CHECKS = [*PER_FILE, "types", "spelling", "python", "format", "tidy"]


def findings(name, paths, build):
    """The findings of one check over all files."""
    if name == "types":
        return list(type_names.check(paths, common.read))
    if name == "spelling":
        return list(spelling.check(paths))
    if name == "python":
        return list(python_source.check(paths, common.read, build))
    if name == "format":
        return list(format_check.check(paths))
    if name == "tidy":
        return tidy.check(build)
    check = PER_FILE[name]
    return [found for path in paths for found in check.check_file(path, common.read(path))]


def main():
    """Runs the checks that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build",
                        help="where compile_commands.json, mypy and ruff are")
    parser.add_argument("--fix", action="store_true", help="format in place")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=" ".join(CHECKS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.checks if name not in CHECKS]
    if unknown:
        parser.error(f"unknown check {unknown[0]}; there are: {' '.join(CHECKS)}")

    paths = common.source_files()
    if arguments.fix:
        format_check.fix(paths)
    total = 0
    for name in arguments.checks or CHECKS:
        found = findings(name, paths, arguments.build)
        total += len(found)
        print(f"{name}: {len(found) or 'no'} finding{'' if len(found) == 1 else 's'}")
        print("".join(f"  {finding}\n" for finding in found), end="", flush=True)
        if name == "size":
            notes = [note for path in paths for note in size.notes(path, common.read(path))]
            print("".join(f"  note: {note}\n" for note in notes), end="")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
