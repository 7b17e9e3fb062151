#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each source check finds its planted violation, and nothing in the clean twin."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("INGOT_BUILD_DIR", ROOT / "build")
sys.path.insert(0, str(ROOT / "tools" / "lint"))

import common  # pylint: disable=wrong-import-position
import format as format_check
import layers
import python_imports
import python_source
import size
import spelling
import stages
import text
import tidy
import type_names


def lines(check, path, source):
    """The lines on which a check finds something."""
    return [finding.line for finding in check.check_file(path, source)]


class Layers(unittest.TestCase):
    """Include direction."""

    def test_each_folder_refuses_the_layers_above_it(self):
        for path, include in [
            ("codegen/a.cpp", '"llvm/ADT/DenseMap.h"'),
            ("src/support/a.h", '"ir/graph.h"'), ("ir/a.cpp", '"codegen/program/program.h"'),
            ("ir/passes/a.cpp", '"runtime/driver.h"'), ("codegen/a.cpp", '"runtime/driver.h"'),
            ("codegen/a.cpp", '"src/compiler.h"'), ("runtime/a.cpp", '"ir/graph.h"'),
            ("runtime/a.cpp", '"src/compiler.h"'), ("src/a.cpp", '"tools/ingot/options.h"'),
            ("src/a.cpp", '"tests/support/skip.h"'), ("ir/a.cpp", '"graph.h"'),
            ("ir/a.cpp", '"../src/support/error.h"'), ("include/ingot/ingot.h", '"llvm/ADT/X.h"'),
            ("include/ingot/ingot.h", "<fmt/format.h>"), ("include/ingot/ingot.h", '"ir/graph.h"'),
            ("include/ingot/ingot.h", "<cuda.h>"), ("src/a.cpp", "<cuda.h>"),
            ("codegen/a.cpp", "<nvrtc.h>"), ("tools/ingot/a.cpp", '"cuda_runtime.h"'),
            ("examples/a.cpp", '"src/compiler.h"'), ("codegen/device/tile/a.cuh", "<cstdint>"),
            ("codegen/device/math/a.cuh", '"tile/context.cuh"'),
            ("codegen/device/ptx/a.cuh", '"math/f.cuh"'),
            ("codegen/device/tile/a.cuh", '"kernels/held.cuh"'),
            ("codegen/device/kernels/a.cuh", '"codegen/program/program.h"'),
        ]:
            with self.subTest(path=path, include=include):
                self.assertEqual(lines(layers, path, f"// a\n  # include {include}\n"), [2])

    def test_layers_below_are_allowed(self):
        for path, include in [
            ("ir/a.cpp", '"src/support/error.h"'), ("codegen/a.cpp", '"ir/fusion/plan.h"'),
            ("runtime/a.cpp", '"codegen/program/program.h"'), ("runtime/a.cpp", "<cuda.h>"),
            ("src/a.cpp", '"runtime/driver.h"'), ("src/a.cpp", '"ingot/ingot.h"'),
            ("tools/ingot/a.cpp", '"src/compiler.h"'), ("include/ingot/a.h", "<vector>"),
            ("src/a.cpp", "<sys/file.h>"), ("codegen/device/kernels/a.cuh", '"tile/held.cuh"'),
            ("examples/a.cpp", '"ingot/ingot.h"'), ("ir/a.cpp", "<fmt/format.h>"),
        ]:
            with self.subTest(path=path, include=include):
                self.assertEqual(lines(layers, path, f"#include {include}\n"), [])

    def test_libraries_are_opened_in_runtime_alone(self):
        source = '// dlopen\nauto a = "dlopen";\nvoid* b = dlopen(a, 1);\n'
        self.assertEqual(lines(layers, "src/a.cpp", source), [3])
        self.assertEqual(lines(layers, "runtime/a.cpp", source), [])


class Stages(unittest.TestCase):
    """Hardware names outside ptx/."""

    def test_hardware_names_belong_to_ptx(self):
        for code in ["int i = threadIdx.x;", "int i = blockIdx.y;", "__syncthreads();",
                     "extern __shared__ char s[];", 'asm volatile("bar.sync 0;");',
                     "x = __shfl_xor_sync(m, x, 1);", "atomicAdd(p, 1);", "__syncwarp();",
                     "__shared__ float s[32];", "#ifdef __CUDA_ARCH__"]:
            for folder in ("tile", "kernels", "math", "anything"):
                with self.subTest(code=code, folder=folder):
                    path = f"codegen/device/{folder}/a.cuh"
                    self.assertEqual(lines(stages, path, f"// a\n{code}\n"), [2])
            if "ARCH" not in code:
                self.assertEqual(lines(stages, "codegen/device/ptx/a.cuh", code), [])

    def test_no_header_branches_on_the_architecture(self):
        self.assertEqual(lines(stages, "codegen/device/ptx/a.cuh", "\n#if __CUDA_ARCH__\n"), [2])

    def test_the_block_belongs_to_skeletons_and_mainloops(self):
        for name in ["thread_index", "block_index", "block_count", "block_barrier",
                     "shared_memory"]:
            for code in [f"x = ptx::{name}();", f"using ptx::{name};\nx = {name} ();"]:
                for path in ["tile/reduce.cuh", "tile/stages.cuh", "tile/mma_stage.cuh",
                             "math/reducers.cuh", "tile/contexts.cuh", "anything.cuh"]:
                    with self.subTest(code=code, path=path):
                        found = lines(stages, "codegen/device/" + path, "// a\n" + code)
                        self.assertEqual(found, [2 + code.count("\n")])
                for path in ["kernels/held.cuh", "tile/context.cuh", "tile/simt_mainloop.cuh",
                             "tile/mma_mainloop.cuh", "ptx/base.cuh"]:
                    with self.subTest(code=code, path=path):
                        self.assertEqual(lines(stages, "codegen/device/" + path, code), [])
        self.assertEqual(lines(stages, "codegen/device/tile/a.cuh", "int s = p.shared_memory;"), [])

    def test_comments_and_the_host_are_free(self):
        self.assertEqual(lines(stages, "codegen/device/tile/a.cuh", "// as threadIdx does\n"), [])
        self.assertEqual(lines(stages, "codegen/emitter.cpp", "int threadIdx;\n"), [])


class Size(unittest.TestCase):
    """Lines and columns."""

    def test_long_file_and_line(self):
        self.assertEqual(lines(size, "ir/a.cpp", "//\n" * 451), [451])
        self.assertEqual(lines(size, "ir/a.cpp", "//\n" * 450), [])
        self.assertEqual(lines(size, "tests/unit/a.cpp", "//\n" * 601), [601])
        self.assertEqual(lines(size, "tests/unit/a.cpp", "//\n" * 600), [])
        self.assertEqual(lines(size, "ir/a.py", "#\n#" + "x" * 100 + "\n"), [2])
        self.assertEqual(lines(size, "ir/a.py", "#" + "x" * 99 + "\n"), [])
        self.assertEqual(len(list(size.notes("ir/a.cpp", "//\n" * 401))), 1)
        # Files that the compiler wrote may have any length; files beside them may not.
        self.assertEqual(lines(size, "tests/golden/kernels/a.cu", "//\n" * 601), [])
        self.assertEqual(len(list(size.notes("tests/golden/kernels/a.cu", "//\n" * 401))), 0)
        self.assertEqual(lines(size, "tests/golden/kernels_test.cpp", "//\n" * 601), [601])

    def test_long_function(self):
        for head in ["int f(int a) ", "template <class T> T A<T>::f() const ",
                     "namespace a { struct B { int f(); B() : a_{1}, b_(2) ",
                     "extern \"C\" __global__ void f(int* a) ",
                     "bool operator==(A a, A b) ", "A f(int b = g({1, 2})) "]:
            tail = " } }\n" if "namespace" in head else "\n"
            for count, expected in ((78, []), (79, [3])):
                with self.subTest(head=head, count=count):
                    source = f"\n\n{head}{{\n" + "  if (a) { b(); }\n" * count + "}" + tail
                    self.assertEqual(lines(size, "ir/a.h", source), expected)

    def test_a_long_scope_is_not_a_function(self):
        body = "int f(int a) { return a; }\n" * 150
        for head in ["namespace a {", "struct A : B<(1)> {", "template <int k> class A {",
                     'extern "C" {', "const int kTable[] = {", "enum class A : int {"]:
            with self.subTest(head=head):
                self.assertEqual(lines(size, "ir/a.h", f"{head}\n{body}}};\n"), [])

    def test_long_python_function(self):
        self.assertEqual(lines(size, "a.py", "def f():\n" + "    a = 1\n" * 100), [1])
        self.assertEqual(lines(size, "a.py", "def f():\n" + "    a = 1\n" * 99), [])


class Text(unittest.TestCase):
    """Licence lines and blanks."""
    CPP = "// SPDX-License-Identifier: Apache-2.0\n"

    def test_licence(self):
        self.assertEqual(lines(text, "ir/a.cpp", self.CPP), [])
        self.assertEqual(lines(text, "ir/a.cpp", "// Hello\n" + self.CPP), [1])
        self.assertEqual(lines(text, "tools/a.py", "#!/usr/bin/env python3\nimport a\n"), [2])
        self.assertEqual(lines(text, "dev", "#!/bin/sh\n# " + text.LICENCE + "\n"), [])

    def test_blanks(self):
        self.assertEqual(lines(text, "ir/a.cpp", self.CPP + "a; \n\tb;\nc;\r\n"), [2, 3, 4])
        self.assertEqual(lines(text, "README.md", "a"), [1])
        self.assertEqual(lines(text, "README.md", "a\n\n"), [2])

    def test_links(self):
        page = "[a](../README.md), [b](https://a.b/c)\n[c](missing.md#part)\n[d](cli.md#e)\n"
        self.assertEqual(lines(text, "docs/a.md", page), [2])
        self.assertEqual(lines(text, "ir/a.h", "// SPDX-License-Identifier: Apache-2.0\n"
                                               "// [c](missing.md)\n"), [])

    def test_comments_name_things(self):
        for comment in ["// Of what it reads.", "/// What a kernel holds", "int a; ///< what it is",
                        "/* a\n * and what is left */", "// What? And of what it is made."]:
            with self.subTest(comment=comment):
                found = lines(text, "tests/unit/a.cpp", self.CPP + comment + "\n")
                self.assertEqual(found, [3 if "\n" in comment else 2])
                self.assertEqual(lines(text, "tests/golden/a.cpp", self.CPP + comment + "\n"), [])
        for comment in ["// The stored tensor, whatever its type.", "// What is this? A tensor.",
                        "// Calls it `what`.", 'auto a = R"(// of what)";']:
            with self.subTest(comment=comment):
                self.assertEqual(lines(text, "ir/a.cpp", self.CPP + comment + "\n"), [])

    def test_messages_name_things(self):
        message = self.CPP + 'error(\n    "copy "\n    "what it gives");\n'
        self.assertEqual(lines(text, "ir/a.cpp", message), [4])
        self.assertEqual(lines(text, "tests/unit/a.cpp", message), [])
        self.assertEqual(lines(text, "ir/a.cpp", self.CPP + 'say("what is this?", what);\n'), [])

    def test_python_names_things(self):
        licence = "# SPDX-License-Identifier: Apache-2.0\n"
        source = ('"""A module\nand what it does."""\n\n\nclass A:\n    """What it holds."""\n\n'
                  '    def f(self):\n        """What f gives."""\n        return 1  # of what\n')
        self.assertEqual(sorted(lines(text, "tools/a.py", licence + source)), [3, 7, 10, 11])
        clean = '"""What is it? `what`."""\nwhat = "of what"\n"""what"""\n'
        self.assertEqual(lines(text, "tools/a.py", licence + clean), [])


class Spelling(unittest.TestCase):
    """Pages."""

    @unittest.skipIf(shutil.which("codespell") is None, "codespell is not installed")
    def test_misspelt_words_of_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("a.md", "b.txt"):
                (root / name).write_text("right\nteh word\n", encoding="utf-8")
            found = list(spelling.check(["a.md", "b.txt"], root))
        self.assertEqual([(finding.path, finding.line) for finding in found], [("a.md", 2)])


class PythonImports(unittest.TestCase):
    """Imports within the package."""

    def findings(self, **files):
        """(path, line) of the findings in a package of these modules; `__` stands for a dot."""
        texts = {f"python/ingot/{name.replace('__', '/')}.py": text
                 for name, text in files.items()}
        return [(finding.path.removeprefix("python/ingot/"), finding.line)
                for finding in python_imports.check(texts, texts.__getitem__)]

    def test_circles(self):
        self.assertEqual(self.findings(a="from ingot import b", b="import ingot.a", c="import os"),
                         [("a.py", 1), ("b.py", 1)])
        late = "def f():\n  from ingot.torch_device import x\n"
        typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from ingot.a import x\n"
        self.assertEqual(self.findings(a=late, torch_device=typing),
                         [("a.py", 1), ("torch_device.py", 1)])
        self.assertEqual(self.findings(a="from ingot.b import x", b="from ingot import c", c=""),
                         [])

    def test_layers_above(self):
        self.assertEqual(self.findings(a="import os\nfrom ingot.torch.b import x",
                                       torch__b="import ingot.c", c=""), [("a.py", 2)])

    def test_imports_inside_functions(self):
        source = "def f():\n  import torch\n  import os\n  from ingot.b import x\n"
        self.assertEqual(self.findings(a=source, b=""), [("a.py", 3), ("a.py", 4)])


class PythonSource(unittest.TestCase):
    """ruff and mypy, with the package's settings."""

    @unittest.skipIf(not all(python_source.program(name, BUILD) for name in ("ruff", "mypy")),
                     "ruff or mypy is not installed")
    def test_planted_violations(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copy(ROOT / "python" / "pyproject.toml", folder)
            (folder / "ingot").mkdir()
            (folder / "ingot" / "__init__.py").write_text(
                "import os\n\n\ndef f(x):\n    return x\n\n\nA: int = 'text'\n", encoding="utf-8")
            for tool, arguments, expected in [
                    ("ruff", ["check", "--no-cache", "--output-format=concise", "ingot"], [1]),
                    ("mypy", [f"--cache-dir={folder}/cache"], [4, 8])]:
                found = python_source.findings_of(tool, arguments, BUILD, folder)
                self.assertEqual([(finding.path, finding.line) for finding in found],
                                 [("python/ingot/__init__.py", line) for line in expected])


class Types(unittest.TestCase):
    """Two definitions of one type name."""

    def found(self, **files):
        """(file, line) of each finding; two underscores of a name stand for a slash."""
        sources = {name.replace("__", "/") + ".h": text for name, text in files.items()}
        return [(finding.path, finding.line)
                for finding in type_names.check(sorted(sources), sources.get)]

    def test_two_files_define_one_name(self):
        for first, second in [
            ("struct A {", "\nclass A {"), ("struct A {", "\nclass A final : public B {"),
            ("enum class A : int {", "\nenum A {"), ("template <class T> struct A {",
                                                   "\ntemplate <class T> union A {"),
            ("template <> struct A<int> {", "\ntemplate <> struct A<int> {"),
            ("struct B { int f() { return 1; } struct A {} a; }; struct A {", "\nstruct A {")]:
            with self.subTest(second=second):
                found = self.found(ir__a="namespace ingot {\n" + first + "};}",
                                   src__b="// struct C {\nnamespace ingot {" + second + "}; }")
                self.assertEqual(found, [("src/b.h", 3)])
        found = self.found(ir__a="namespace a::b { struct A {}; }",
                           ir__b="namespace a { namespace b { struct A {}; } }")
        self.assertEqual(found, [("ir/b.h", 1)])

    def test_names_that_may_be_alike(self):
        for first, second in [
            ("struct A {};", "struct A;"), ("struct A {};", "struct A f() { return {}; }"),
            ("struct A {};", "namespace { struct A {}; }"),
            ("struct A {};", "namespace c { struct A {}; }"),
            ("struct A {};", "struct B { struct A {}; };"),
            ("struct A {};", "void f() { struct A {}; }"),
            ("template <> struct A<int> {};", "template <> struct A<char> {};")]:
            with self.subTest(second=second):
                self.assertEqual(self.found(ir__a=first, src__b=second), [])
        self.assertEqual(self.found(ir__a="struct A {};", codegen__device__b="struct A {};"), [])
        self.assertEqual(self.found(tests__unit__a="struct A {};", tests__gpu__b="struct A {};"),
                         [])
        self.assertEqual(self.found(ir__a="struct A {};", tests__gpu__b="struct A {};"),
                         [("tests/gpu/b.h", 1)])


class Tools(unittest.TestCase):
    """clang-format and clang-tidy are really asked."""

    def test_format(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / ".clang-format").write_text((ROOT / ".clang-format").read_text())
            (root / "a.cpp").write_text("int a;\nint  b;\n")
            (root / "b.cpp").write_text("int a;\n")
            found = list(format_check.check(["a.cpp", "b.cpp"], root))
            self.assertEqual([(f.path, f.line) for f in found], [("a.cpp", 2)])
            format_check.fix(["a.cpp"], root)
            self.assertEqual(list(format_check.check(["a.cpp", "b.cpp"], root)), [])

    def test_tidy(self):
        with tempfile.TemporaryDirectory() as folder:
            root, build = pathlib.Path(folder), pathlib.Path(folder) / "build"
            for name in ("build", "src"):
                (root / name).mkdir()
            (root / ".clang-tidy").write_text((ROOT / ".clang-tidy").read_text())
            (root / "src" / "a.h").write_text("#pragma once\nint good();\n")
            (root / "src" / "a.cpp").write_text('#include "src/a.h"\nint BadName();\n')
            (build / "compile_commands.json").write_text(
                f'[{{"directory": "{root}", "file": "src/a.cpp", '
                f'"command": "c++ -I{root} -c src/a.cpp"}}]')
            found = tidy.check(build, root)
            self.assertEqual([(f.path, f.line) for f in found], [("src/a.cpp", 2)])
            # A verdict of silence is kept, until a header changes.
            (root / "src" / "a.cpp").write_text('#include "src/a.h"\nint good_name();\n')
            self.assertEqual(tidy.check(build, root), [])
            (root / "src" / "a.h").write_text("#pragma once\nint BadName();\n")
            found = tidy.check(build, root)
            self.assertEqual([(f.path, f.line) for f in found], [("src/a.h", 2)])


class Common(unittest.TestCase):
    """The functions that checks share."""

    def test_comments_and_literals_become_blanks(self):
        source = 'a /* x\n y */ "// no" \'"\' R"(a " // )" 1\'000; // end\n'
        blank = common.blank_comments(source)
        self.assertEqual(blank.split(), ["a", "1'000;"])
        self.assertEqual(blank.count("\n"), 2)
        self.assertIn('"// no"', common.blank_comments(source, keep_strings=True))

    def test_all_sources_are_listed(self):
        listed = common.source_files()
        for path in ("CMakeLists.txt", "dev", "src/support/error.h", "tools/lint/run.py",
                     "codegen/program/device_headers.h", "tests/lint/checks_test.py"):
            self.assertIn(path, listed)


if __name__ == "__main__":
    unittest.main()
