#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the kernels on a GPU: verify_on_gpu.py [check|sanitize|chains ...].

check     `ingot check` of every example at full size, in every precision
sanitize  compute-sanitizer's memcheck and racecheck over every example at reduced odd sizes, with a
          contraction below, at and above the depth of the mainloops' pipelines, and over random
          chains
chains    random chains (--chains N, as many as start within --seconds) against the f64 reference

Prints a Markdown section of each; exit status 1 when anything failed. Needs the programs `ingot`
and `ingot_random_chains` in --bin, and compute-sanitizer on PATH.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Columns and K. A stage of a pipeline holds 16 or 32 of K, and four stages are under way; rows of
# 330 elements, and of 41, do not start at multiples of 16 bytes.
SIZES = ((320, 8), (320, 40), (320, 72), (320, 264), (330, 41))
ROWS = {"1024": 130, "32768": 130, "16384": 67}
GROUPS = {"groups=256": "groups=10", "groups=64": "groups=5"}


def reduced(text, columns, contraction):
    """A spec of examples/ at small sizes. A matmul's K is the last extent of its x and w."""
    for old, new in GROUPS.items():
        text = text.replace(old, new)

    def shape(match):
        extents = match[1].split(", ")
        if len(extents) == 1:
            return f"[{columns}]"
        last = contraction if "linear(" in text else columns
        return f"[{ROWS.get(extents[0], columns)}, {last}]"

    return re.sub(r"\[(\d+(?:, \d+)*)\]", shape, text)


def reduced_specs(folder):
    for path in sorted((ROOT / "examples").glob("*.ingot")):
        for columns, k in SIZES:
            spec = folder / f"{path.stem}_{columns}_{k}.ingot"
            spec.write_text(reduced(path.read_text(), columns, k))
            yield spec


def run(command, seconds=600):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 124, f"stopped after {seconds} s"


def check(options):
    """One at a time: the reference takes all cores."""
    print("| example | precision | worst error | its bound, at most | planted errors refused | |")
    print("|---|---|---|---|---|---|")
    failed = 0
    for spec in sorted((ROOT / "examples").glob("*.ingot")):
        status, text = run([options.bin / "ingot", "check", spec])
        failed += status != 0
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 8 and words[7].rstrip(",") in (
                    "pass", "FAIL", "undecided", "unproven"):
                print(f"| {spec.stem} | {words[0]} | {words[2]} | {words[3]} | {words[6]} | "
                      f"{' '.join(words[7:])} |")
        if status:
            print(f"\n{spec.stem}: exit status {status}\n\n```\n{text}```\n")
    return failed


def sanitize_one(options, tool, command):
    status, text = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "99", *command])
    summary = re.search(r"SUMMARY: (.*)", text)
    return status == 0 and summary and " 0 " in f" {summary[1]} ", text


def sanitize(options):
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for tool in ("memcheck", "racecheck"):
            for spec in reduced_specs(pathlib.Path(folder)):
                jobs.append((tool, [options.bin / "ingot", "check", spec]))
            for seed in range(1, options.sanitized + 1, 5):
                jobs.append((tool, [options.bin / "ingot_random_chains", "--small", "--seed",
                                    str(seed), "--count", "5"]))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            done = list(pool.map(lambda job: sanitize_one(options, *job), jobs))
        for (tool, command), (passed, text) in zip(jobs, done):
            if not passed:
                failed.append((tool, command, text))
    print(f"compute-sanitizer: {len(jobs)} runs, {len(failed)} with findings")
    for tool, command, text in failed:
        print(f"\n{tool} {' '.join(map(str, command))}\n\n```\n{text[-3000:]}```\n")
    return len(failed)


def chains(options):
    starts = range(options.seed, options.seed + options.chains, 10)
    total = [0] * 5
    failed = left_out = 0
    program = options.bin / "ingot_random_chains"
    features = {}
    deadline = time.monotonic() + options.seconds

    def run_ten(start):
        if time.monotonic() > deadline:
            return None
        return run([program, "--seed", str(start), "--count", "10"], 300)

    cores = itertools.cycle(sorted(os.sched_getaffinity(0)))

    def keep_to_one_core():
        """Of this thread and the programs it starts: each would run a thread on every core."""
        os.sched_setaffinity(0, {next(cores)})

    with concurrent.futures.ThreadPoolExecutor(options.jobs, initializer=keep_to_one_core) as pool:
        for start, done in zip(starts, pool.map(run_ten, starts)):
            if not done:
                left_out += 10
                continue
            status, text = done
            numbers = re.search(r"(\d+) passed, (\d+) failed, (\d+) without kernels; "
                                r"(\d+) elements judged, (\d+) unbounded", text)
            if numbers:
                total = [a + int(b) for a, b in zip(total, numbers.groups())]
            for count, name in re.findall(r"^  (\d+) (.*)$", text, re.MULTILINE):
                if numbers and text.index(numbers[0]) < text.index(f"  {count} {name}"):
                    features[name] = features.get(name, 0) + int(count)
            if status or not numbers:
                failed += 1
                print(f"seeds from {start}: exit status {status}\n\n```\n{text[-4000:]}```\n")
    print(f"seeds {options.seed} to {options.seed + options.chains - 1}: {total[0]} chains passed, "
          f"{total[1]} failed, {total[2]} have no kernels yet; {total[3]} elements judged, "
          f"{total[4]} with a bound that admits anything; {left_out} chains were not started")
    for name, count in sorted(features.items(), key=lambda item: -item[1]):
        print(f"- {count} {name}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["check", "sanitize", "chains"])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "bin")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    parser.add_argument("--chains", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="after which no further random chains start")
    parser.add_argument("--sanitized", type=int, default=60, help="random chains to sanitize")
    options = parser.parse_args()
    parts = {"check": check, "sanitize": sanitize, "chains": chains}
    failed = 0
    for name in ("ingot", "ingot_random_chains"):
        if not (options.bin / name).is_file():
            parser.error(f"--bin: {options.bin} has no program {name}; build first")
    for part in options.parts:
        if part not in parts:
            parser.error(f"unknown part '{part}'; expected {', '.join(parts)}")
        print(f"\n## {part}\n", flush=True)
        failed += parts[part](options)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
