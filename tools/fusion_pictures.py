#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the README and of docs/fusion.md: fusion_pictures.py INGOT [--check].

INGOT is the command line. For the README it compiles examples/94_half.ingot to CUDA for an H100,
takes the map, the reduction and the entry out of the text, and draws them beside the graph. Each
graph of docs/fusion.md becomes the picture that `ingot explain` draws of it. --check writes
nothing; exit status 1 where a picture in docs/images differs.
"""
import pathlib
import re
import subprocess
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "94_half.ingot"
COLOURS = {
    "light": {"panel": "#f6f8fa", "line": "#d1d9e0", "text": "#1f2328", "faint": "#59636e",
              "key": "#0550ae", "arrow": "#59636e"},
    "dark": {"panel": "#151b23", "line": "#3d444d", "text": "#f0f6fc", "faint": "#9198a1",
             "key": "#79c0ff", "arrow": "#9198a1"},
}
SIZE, CHARACTER, LINE, PAD = 12, 7.23, 17, 14
KEYS = re.compile(r"\b(graph|param|return|struct|using|template|static|constexpr|const|class|int|"
                  r"bf16|f32|extern|void|__global__|__launch_bounds__|INGOT_DEVICE)\b")


def struct(cuda, name):
    """The lines of a struct of the kernel."""
    found = re.search(rf"^  struct {name}\b.*?^  }};$", cuda, re.MULTILINE | re.DOTALL)[0]
    return [line[2:] for line in found.split("\n")]


def kernel_lines(cuda):
    """The lines of the first kernel that say the most, in their order."""
    stages = re.search(r"^  using Stages = .*?;$", cuda, re.MULTILINE | re.DOTALL)[0]
    mapped = re.search(r"Map<(\w+),", stages)[1]
    reduction = struct(cuda, re.search(r"Reduce<(\w+)>", stages)[1])[0].replace("{", "{ ... };")
    entry = re.search(r'^extern "C" [^{]*\{\n.*?^\}$', cuda, re.MULTILINE | re.DOTALL)[0]
    kernel = ["template <class V> struct Kernel {", *stages.split("\n"), "  ...", "};"]
    return [*struct(cuda, mapped), reduction, *kernel, "", *entry.split("\n")]


def text_lines(lines, left, top, colour):
    for i, line in enumerate(lines):
        is_comment = line.lstrip().startswith("//")
        if is_comment:
            shown = f'<tspan fill="{colour["faint"]}">{escape(line)}</tspan>'
        else:
            shown = KEYS.sub(lambda match: f'<tspan fill="{colour["key"]}">{match[0]}</tspan>',
                             escape(line))
        yield (f'<text x="{left}" y="{top + LINE * (i + 1):.0f}" fill="{colour["text"]}" '
               f'xml:space="preserve">{shown}</text>')


def panel(lines, title, left, height, colour):
    width = PAD * 2 + CHARACTER * max(map(len, lines))
    yield (f'<rect x="{left}" y="26" width="{width:.0f}" height="{height}" rx="6" '
           f'fill="{colour["panel"]}" stroke="{colour["line"]}"/>')
    yield (f'<text x="{left}" y="16" fill="{colour["text"]}" font-family="system-ui, sans-serif" '
           f'font-weight="600">{title}</text>')
    yield from text_lines(lines, left + PAD, 34, colour)


def picture(graph, kernel, theme):
    colour = COLOURS[theme]
    height = LINE * max(len(graph), len(kernel)) + 24
    graph_width = PAD * 2 + CHARACTER * max(map(len, graph))
    left = graph_width + 44
    width = left + PAD * 2 + CHARACTER * max(map(len, kernel)) + 2
    middle = 26 + height / 2
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height + 30}" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">',
        *panel(graph, "a graph", 1, height, colour),
        *panel(kernel, "its one kernel, in part", round(left), height, colour),
        f'<path d="M{graph_width + 10:.0f} {middle:.0f} h18 m-7 -6 l7 6 l-7 6" fill="none" '
        f'stroke="{colour["arrow"]}" stroke-width="2"/>',
        "</svg>"]) + "\n"


def readme_pictures(ingot):
    """{file's name: SVG} of the README."""
    cuda = subprocess.run([ingot, "compile", EXAMPLE, "--emit=cuda", "--device=h100",
                           "--untuned"], capture_output=True, text=True, check=True).stdout
    generated = cuda[cuda.index("struct Params {"):]
    spec = EXAMPLE.read_text(encoding="utf-8").replace(
        "gemm_biasadd_hardtanh_mish_groupnorm_bf16", "mish_groupnorm")
    graph = re.sub(r"\n {20,}", "\n    ", spec).strip().replace(
        "// Chain 94 with bf16 tensors: operands and results are bf16, arithmetic is f32\n", "")
    graph = re.sub(r", (param (?:w|b|bias|gamma|beta))", r",\n    \1", graph).split("\n")
    kernel = kernel_lines(generated)
    return {f"fusion-{theme}.svg": picture(graph, kernel, theme) for theme in COLOURS}


def plan_pictures(ingot):
    """{file's name: SVG} of docs/fusion.md."""
    page = (ROOT / "docs" / "fusion.md").read_text(encoding="utf-8")
    pictures = {}
    for spec in re.findall(r"^```ingot\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        name = re.match(r"graph (\w+)", spec)[1]
        pictures[f"{name}.svg"] = subprocess.run(
            [ingot, "explain", "-", "--format=svg", "--device=h100", "--untuned"], input=spec,
            capture_output=True, text=True, check=True).stdout
    return pictures


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    folder, status = ROOT / "docs" / "images", 0
    folder.mkdir(exist_ok=True)
    for name, text in {**readme_pictures(sys.argv[1]), **plan_pictures(sys.argv[1])}.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if sys.argv[2:]:
            print(f"docs/images/{name} differs from the compiler's picture; "
                  "run ./dev golden")
            status = 1
        else:
            path.write_text(text, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
