#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables and plots of the pages are those of docs/benchmarks.json, and the check sees where
they are not."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import benchmark_tables  # noqa: E402

MEASURED = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))


class Tables(unittest.TestCase):
    """Pages beside the measurements."""

    def test_pages_hold_the_measurements(self):
        for path, text in benchmark_tables.results(MEASURED).items():
            with self.subTest(path=path.name):
                self.assertTrue(path.exists() and path.read_text(encoding="utf-8") == text,
                                "run tools/benchmark_tables.py")

    def test_another_figure_changes_them(self):
        other = json.loads(json.dumps(MEASURED))
        other["beside-torch"][0]["ms"]["ingot"] *= 2
        changed = [path.name for path, text in benchmark_tables.results(other).items()
                   if path.read_text(encoding="utf-8") != text]
        self.assertIn("benchmarks.md", changed)
        self.assertIn("speed-light.svg", changed)

    def test_each_chain_has_a_title(self):
        chains = {path.stem for path in (ROOT / "tests" / "chains").glob("*.ingot")}
        self.assertEqual(chains, {row["chain"] for row in MEASURED["beside-torch"]})
        for chain in chains:
            self.assertTrue(benchmark_tables.title_of(chain))


if __name__ == "__main__":
    unittest.main()
