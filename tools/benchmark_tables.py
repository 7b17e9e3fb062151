#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of docs/benchmarks.json, which tools/benchmark.py measured.

    benchmark_tables.py [--check]

Writes each table of README.md and docs/benchmarks.md between the comments that name it, and the
plots docs/images/speed-light.svg and speed-dark.svg. --check writes nothing; exit status 1 where a
file differs.
"""
import argparse
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRECISIONS = ("f32", "TF32", "bf16")

#: The computation of each development chain.
TITLES = {
    "1": "product", "3": "batched product", "12": "linear, scale, leaky relu",
    "14": "linear, divide, sum", "16": "product, A transposed",
    "18": "linear, sum, max, logsumexp", "22": "linear, add, clamp, logsumexp, mish",
    "23": "softmax, rows of 393216", "26": "GELU", "28": "linear, instance norm, residual",
    "30": "linear, GroupNorm, hardtanh", "35": "GroupNorm", "36": "RMSNorm",
    "37": "linear, swish, bias, GroupNorm", "39": "linear, scale, BatchNorm", "40": "LayerNorm",
    "45": "two linears, sigmoid, logsumexp", "47": "sum over an axis",
    "56": "linear, sigmoid, sum", "75": "linear, GroupNorm, min, bias",
    "80": "linear, max, subtract, GELU", "84": "linear, BatchNorm, softmax",
    "94": "linear, bias, hardtanh, mish, GroupNorm", "94_mseloss": "MSE loss",
    "95": "linear, swish, tanh, GELU, hardtanh", "98": "linear, average pool, GELU, max",
    "99": "linear, GELU, softmax",
}

#: Rows of the README's table: products with long and short tails, and rows alone.
FEW = ("94", "37", "99", "84", "16", "40", "23")


def number_of(chain):
    return chain if chain == "94_mseloss" else chain.split("_")[0]


def title_of(chain):
    return TITLES[number_of(chain)]


def by_chain(rows):
    """{chain: {precision: row}}, in the order of the file."""
    found = {}
    for row in rows:
        found.setdefault(row["chain"], {})[row["precision"]] = row
    return found


def milliseconds(value):
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def ratio(row, contender):
    return row["ms"][contender] / row["ms"]["ingot"]


def times(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(row) + " |" for row in rows)])


def few_chains(measured):
    """The README's: how many times as fast as eager PyTorch and torch.compile."""
    chains = {number_of(chain): rows for chain, rows in by_chain(measured["beside-torch"]).items()}
    head = ["chain", *(f"{precision}: ms" for precision in PRECISIONS)]
    found = []
    for number in FEW:
        cells = []
        for precision in PRECISIONS:
            row = chains[number].get(precision)
            cells.append("-" if row is None else
                         f"{milliseconds(row['ms']['ingot'])} ({times(ratio(row, 'eager'))}, "
                         f"{times(ratio(row, 'compile'))})")
        found.append([TITLES[number], *cells])
    return table(head, found)


def all_chains(measured):
    head = ["chain"]
    for precision in PRECISIONS:
        head += [f"{precision} ms", "over eager, compile, cuBLAS"]
    found = []
    for chain, rows in by_chain(measured["beside-torch"]).items():
        cells = [f"{number_of(chain).split('_')[0]} {title_of(chain)}"]
        for precision in PRECISIONS:
            row = rows.get(precision)
            if row is None:
                cells += ["-", "-"]
                continue
            contenders = [name for name in ("eager", "compile", "product") if name in row["ms"]]
            cells += [milliseconds(row["ms"]["ingot"]),
                      ", ".join(times(ratio(row, name)) for name in contenders)]
        found.append(cells)
    return table(head, found)


def feed_forward(measured):
    return table(["graph", "precision", "ms", "over eager, compile"],
                 [[row["graph"], row["precision"], milliseconds(row["ms"]["ingot"]),
                   f"{times(ratio(row, 'eager'))}, {times(ratio(row, 'compile'))}"]
                  for row in measured["feed-forward"]])


def families(measured):
    """How many times as fast kernels for sm_90a are as those for sm_80."""
    def cell(row):
        return times(row["ms"]["sm_80"] / row["ms"]["sm_90a"]) if row else "-"
    return table(["chain", *PRECISIONS],
                 [[f"{number_of(chain).split('_')[0]} {title_of(chain)}",
                   *(cell(rows.get(precision)) for precision in PRECISIONS)]
                  for chain, rows in by_chain(measured["families"]).items()])


def shares(measured):
    """Products with a tail: of the rate of the unit that multiplies, and over the product alone."""
    found = []
    for row in measured["chains"]:
        found.append([f"{number_of(row['graph'])} {title_of(row['graph'])}", row["precision"],
                      str(row["kernels"]), milliseconds(row["ms"]),
                      f"{row['of_unit']:.2f} of {row['unit_tflops']:.0f} TFLOP/s ({row['unit']})",
                      f"{row['ms'] / row['product_ms']:.2f}" if "product_ms" in row else "-"])
    return table(["chain", "precision", "kernels", "ms", "share", "over the product alone"], found)


def rows_alone(measured):
    found = {}
    for row in measured["rows"]:
        found.setdefault(row["graph"], {})[row["precision"]] = row

    def cells(row):
        return [milliseconds(row["ms"]), f"{row['of_copy']:.2f}"] if row else ["-", "-"]
    return table(["graph", "f32 ms", "share of a copy", "bf16 ms", "share of a copy"],
                 [[name, *cells(kinds.get("f32")), *cells(kinds.get("bf16"))]
                  for name, kinds in found.items()])


def launches(measured):
    return table(["chain", "precision", "kernels", "us a launch", "us of a bare launch"],
                 [[title_of(row["graph"]), row["precision"], str(row["kernels"]),
                   f"{row['host_us']:.1f}", f"{row['bare_us']:.1f}"]
                  for row in measured["chains"]])


def compile_times(measured):
    return table(["chain", "precision", "s without a cache", "s with one"],
                 [[title_of(row["graph"]), row["precision"], f"{row['cold_s']:.2f}",
                   f"{row['warm_s']:.2f}"] for row in measured["compile"]])


def state(measured):
    of = measured["state"]
    return (f"One {of['gpu']}, driver {of['driver']}, CUDA {of['cuda']}, PyTorch {of['pytorch']}, "
            f"Ingot at {of['commit']}, {of['date']}.")


TABLES = {"state": state, "few-chains": few_chains, "all-chains": all_chains,
          "feed-forward": feed_forward, "families": families, "shares": shares,
          "rows": rows_alone, "launches": launches, "compile": compile_times}
PAGES = ("README.md", "docs/benchmarks.md")


def page_with_tables(text, measured):
    def filled(match):
        return f"{match[1]}\n{TABLES[match[2]](measured)}\n{match[3]}"
    return re.sub(r"(<!-- benchmark: ([a-z-]+) -->)\n.*?(<!-- end -->)", filled, text,
                  flags=re.DOTALL)


# --- plots ---------------------------------------------------------------------------------------

COLOURS = {
    "light": {"text": "#1f2328", "faint": "#59636e", "grid": "#d1d9e0", "one": "#59636e",
              "f32": "#0969da", "TF32": "#bf8700", "bf16": "#8250df"},
    "dark": {"text": "#f0f6fc", "faint": "#9198a1", "grid": "#3d444d", "one": "#9198a1",
             "f32": "#4493f8", "TF32": "#d29922", "bf16": "#ab7df8"},
}
LABELS, PANEL, GAP, ROW, TOP = 270, 280, 24, 20, 62
LEAST, MOST = 0.4, 200.0
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200)


def at(value, left):
    """The place of a ratio on a panel's logarithmic axis, in pixels."""
    share = math.log(min(max(value, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return left + share * PANEL


def plot(measured, theme):
    """How many times as fast as eager and as torch.compile, one row a chain, a dot a precision."""
    colour, chains = COLOURS[theme], by_chain(measured["beside-torch"])
    bottom = TOP + ROW * len(chains)
    width = LABELS + 2 * PANEL + GAP + 16
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 44}" '
             'font-family="system-ui, sans-serif" font-size="12">']

    def text(x, y, words, fill, anchor="start", extra=""):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" text-anchor="{anchor}"{extra}>'
                     f'{words}</text>')
    for panel, contender in enumerate(("eager PyTorch", "torch.compile")):
        left = LABELS + panel * (PANEL + GAP)
        text(left, 18, f"times as fast as {contender}", colour["text"], extra=' font-weight="600"')
        for tick in TICKS:
            x = at(tick, left)
            stroke = colour["one"] if tick == 1 else colour["grid"]
            parts.append(f'<line x1="{x:.1f}" y1="{TOP - 14}" x2="{x:.1f}" y2="{bottom}" '
                         f'stroke="{stroke}"/>')
            text(x, TOP - 20, f"{tick:g}", colour["faint"], "middle")
    for i, (chain, rows) in enumerate(chains.items()):
        y = TOP + ROW * (i + 0.5)
        text(LABELS - 10, y + 4, title_of(chain), colour["text"], "end")
        for precision, row in rows.items():
            for panel, contender in enumerate(("eager", "compile")):
                x = at(ratio(row, contender), LABELS + panel * (PANEL + GAP))
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" '
                             f'fill="{colour[precision]}">'
                             f'<title>{title_of(chain)}, {precision}: '
                             f'{times(ratio(row, contender))}</title></circle>')
    for i, precision in enumerate(PRECISIONS):
        x = 12 + 70 * i
        parts.append(f'<circle cx="{x + 5}" cy="{bottom + 20}" r="4.5" '
                     f'fill="{colour[precision]}"/>')
        text(x + 16, bottom + 24, precision, colour["text"])
    of = measured["state"]
    text(width - 16, bottom + 24,
         f"{of['gpu']}, PyTorch {of['pytorch']}; right of 1 Ingot is faster",
         colour["faint"], "end")
    return "\n".join([*parts, "</svg>"]) + "\n"


def results(measured):
    """The text of each file to write."""
    files = {ROOT / page: page_with_tables((ROOT / page).read_text(), measured) for page in PAGES}
    for theme in COLOURS:
        files[ROOT / "docs" / "images" / f"speed-{theme}.svg"] = plot(measured, theme)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit status 1 where a file differs")
    options = parser.parse_args()
    status = 0
    for path, text in results(json.loads((ROOT / "docs/benchmarks.json").read_text())).items():
        if path.exists() and path.read_text() == text:
            continue
        if options.check:
            print(f"{path.relative_to(ROOT)} differs from docs/benchmarks.json; run "
                  "tools/benchmark_tables.py")
            status = 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
