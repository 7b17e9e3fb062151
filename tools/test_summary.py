#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up a test run: test_summary.py FOLDER, which holds ctest.xml and one xml per lit suite.

Prints the skipped tests and why, the failed ones, and last `N passed, N failed, N skipped`.
Exit status 1 when something failed or nothing ran. ./dev test calls it.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def ctest_results(path):
    """Yields (name, state, reason) of each test that ctest.xml names, lit suites left out."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        text = case.findtext("system-out") or ""
        if case.get("status") == "run":
            yield name, "passed", ""
        elif case.get("status") == "notrun" and case.find("skipped") is not None:
            # Test binaries say [skip]; the example program says "not launched".
            reasons = re.findall(r"^(?:\[skip\]|not launched:) (.*)$", text, re.MULTILINE)
            reason = "; ".join(dict.fromkeys(reasons))
            # A test whose program is missing is "notrun" too, and that is a failure.
            yield (name, "skipped", reason) if reason else (name, "failed", "did not run")
        else:
            yield name, "failed", ""


def lit_results(path):
    """Yields (name, state, reason) of each file of a lit suite."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{path.stem}/{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            yield name, "failed", ""
        elif skipped is not None:
            yield name, "skipped", skipped.get("message") or "no reason given"
        else:
            yield name, "passed", ""


def collect(folder):
    """All results; a lit suite with a report counts by its files instead of as one test."""
    suites = {path.stem: list(lit_results(path)) for path in sorted(folder.glob("lit_*.xml"))}
    results = []
    for name, state, reason in ctest_results(folder / "ctest.xml"):
        files = suites.get(name, [])
        agrees = state == "passed" or any(s == "failed" for _, s, _ in files)
        results += files if files and agrees else [(name, state, reason)]
    return results


def main():
    """Prints the summary of the folder named on the command line."""
    results = collect(pathlib.Path(sys.argv[1]))
    skipped = collections.defaultdict(list)
    for name, state, reason in results:
        if state == "skipped":
            skipped[reason].append(name)
    for reason, names in sorted(skipped.items()):
        print(f"\nskipped, {reason}:")
        print("\n".join(f"  {name}" for name in names))
    failed = [(name, reason) for name, state, reason in results if state == "failed"]
    if failed:
        print("\nfailed:")
        print("\n".join(f"  {name}{': ' + reason if reason else ''}" for name, reason in failed))
    counts = collections.Counter(state for _, state, _ in results)
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
