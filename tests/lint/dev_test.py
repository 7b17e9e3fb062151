#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev does nothing where it does not know an argument, and --help is never work."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ("setup", "build", "install", "demo", "test", "wheel", "torch", "tsan", "lint", "fmt",
            "golden", "clean", "help")


class Dev(unittest.TestCase):
    """Each runs on a build folder of its own, which must be left as it is."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = pathlib.Path(self.folder.name) / "build"
        self.build.mkdir()
        (self.build / "kept").touch()

    def run_dev(self, *arguments):
        result = subprocess.run(
            [ROOT / "dev", *arguments], cwd=self.folder.name, text=True, capture_output=True,
            env=dict(os.environ, INGOT_BUILD_DIR=str(self.build)), timeout=60, check=False)
        self.assertEqual([path.name for path in self.build.iterdir()], ["kept"], arguments)
        self.assertEqual(os.listdir(self.folder.name), ["build"], arguments)
        return result

    def test_help_is_shown_by_every_command(self):
        for arguments in [(), ("-h",), ("--help",)] + [
                (command, flag) for command in COMMANDS for flag in ("-h", "--help")] + [
                ("install", "prefix", "--help"), ("test", "unit", "-h")]:
            result = self.run_dev(*arguments)
            self.assertEqual(result.returncode, 0, arguments)
            self.assertTrue(result.stdout.startswith("usage: ./dev COMMAND"), arguments)
            self.assertEqual(result.stderr, "", arguments)

    def test_an_unknown_argument_is_refused(self):
        for arguments, message in [
                (("claen",), "unknown command: claen"),
                (("clean", "everything"), "clean: expected no argument, got: everything"),
                (("build", "--fast"), "build: expected no argument, got: --fast"),
                (("fmt", "src"), "fmt: expected no argument, got: src"),
                (("golden", "unit"), "golden: expected no argument"),
                (("wheel", "x"), "wheel: expected no argument"),
                (("demo", "x"), "demo: expected no argument"),
                (("tsan", "x"), "tsan: expected no argument"),
                (("help", "x"), "help: expected no argument"),
                (("setup", "all"), "setup: expected some of: build, got: all"),
                (("setup", "build", "x"), "setup: expected nothing or build, got: build x"),
                (("install", "--prefix=x"), "install: expected the name of a folder, got: "),
                (("install", ""), "install: expected the name of a folder, got: ''"),
                (("install", "a", "b"), "install: expected one PREFIX, got: a b"),
                (("test", "unit", "gloden"), "test: expected some of: lint unit"),
                (("lint", "--all"), "lint: expected some of: layers stages"),
                (("torch", "new"), "torch: expected versions such as 2.9, got: new")]:
            result = self.run_dev(*arguments)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn("dev: " + message, result.stderr, arguments)
            self.assertIn("./dev help lists", result.stderr, arguments)
            self.assertEqual(result.stdout, "", arguments)


if __name__ == "__main__":
    unittest.main()
