#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/chains.md: the kernels of each chain of tests/chains, from `ingot explain`.

    chains_table.py [--ingot build/bin/ingot] > docs/chains.md

`./dev golden` calls it, and a golden test compares.
"""
import argparse
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEAD = """# Chains

The kernels of each chain of `tests/chains` for sm_80 at full size, in the default precision: the
development set of KernelBench's levels 1 and 2. Written by `tools/chains_table.py`; `ingot explain`
tells more of one chain. *kernels* are those of a launch; those *in prepare* run once per parameter
set. Bytes are those of the launch program, each tensor once for each kernel
that touches it: *stored* are the bytes that its kernels write, *between kernels* the share of them
in workspace. *unfused* is each operator as written, compiled alone with the same options: see
[cli.md](cli.md#explain). Times are predicted for an A100.
"""


def size_text(count):
    """Bytes with three digits, as `ingot explain` prints them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B"


def time_text(ms):
    """Milliseconds with three digits."""
    return f"{ms:.3g} ms" if ms >= 0.1 else f"{ms * 1e3:.3g} us"


def kind_of(op):
    """The op of a line of `holds`, or that its partials are merged."""
    name = re.sub(r"^.*? = (\w+)\(.*", r"\1", op)
    return f"merged {name}," if op.endswith("merged from its partials") else name


def explain(ingot, path):
    """The facts of one graph spec."""
    run = subprocess.run([ingot, "explain", path, "--format=json"], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{path}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def written(kernel, prefix=""):
    """Bytes that a kernel writes to tensors and memories whose names start so."""
    return sum(transfer["bytes"] for transfer in kernel["transfers"]
               if transfer["direction"] == "write" and transfer["name"].startswith(prefix))


def summary_row(chain, facts):
    """One row of the table of all chains."""
    launch = [kernel for kernel in facts["kernels"] if kernel["program"] == "launch"]
    prepare = len(facts["kernels"]) - len(launch)
    cells = [chain, str(len(launch)), str(prepare or ""),
             size_text(sum(map(written, launch))),
             size_text(sum(written(kernel, "workspace ") for kernel in launch)),
             size_text(facts["bytes"]), size_text(facts["unfused"]["bytes"]),
             time_text(facts["predicted_ms"]), time_text(facts["unfused"]["predicted_ms"])]
    return "| " + " | ".join(cells) + " |"


def kernel_lines(facts):
    """The ops and stores of each kernel, and then why kernels are apart."""
    names = [kernel["name"] for kernel in facts["kernels"]]
    for number, kernel in enumerate(facts["kernels"], 1):
        program = " (prepare)" if kernel["program"] == "prepare" else ""
        holds = " ".join(kind_of(op) for op in kernel["ops"]).rstrip(",")
        stores = ", ".join(f"{transfer['value']} {size_text(transfer['bytes'])}"
                           for transfer in kernel["transfers"] if transfer["direction"] == "write")
        held = "" if kernel["packs_operand"] else f"; {holds or 'movement'}"
        yield f"- kernel {number}{program}: {kernel['source']}{held}"
        yield f"  - stores {stores}"
        for reduction in kernel["reductions"]:
            yield f"  - {reduction}"
    reasons = {}
    for boundary in facts["boundaries"]:
        producer, consumer = (names.index(boundary[end]) + 1 for end in ("producer", "consumer"))
        arrow = "->" if boundary["values"] else "|"
        reasons.setdefault((boundary["rule"], boundary["change"]), []).append(
            f"{producer} {arrow} {consumer}")
    for (rule, change), pairs in reasons.items():
        yield f"- kernels {', '.join(pairs)}: {rule}"
        yield "  - no option changes this" if change == "none" else f"  - to fuse: {change}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", default=ROOT / "build" / "bin" / "ingot")
    ingot = parser.parse_args().ingot
    paths = sorted((ROOT / "tests" / "chains").glob("*.ingot"),
                   key=lambda path: (int(path.stem.split("_")[0]), path.stem))
    facts = {path.stem: explain(ingot, path) for path in paths}
    print(HEAD)
    print("| chain | kernels | in prepare | stored | between kernels | moved | unfused | time | "
          "unfused time |")
    print("|---|---|---|---|---|---|---|---|---|")
    for chain, found in facts.items():
        print(summary_row(chain, found))
    for chain, found in facts.items():
        print(f"\n## {chain}\n")
        print("\n".join(kernel_lines(found)))


if __name__ == "__main__":
    main()
