#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/launch_from_manifest.py: expressions, .npy files, and its calls of a pretended driver."""
import ctypes
import importlib.util
import json
import pathlib
import struct
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("launcher",
                                              ROOT / "tools" / "launch_from_manifest.py")
launcher = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(launcher)


class PretendedDriver:
    """Host memory in place of device memory; launches are recorded."""

    device = 0

    def __init__(self, num_arguments):
        self.num_arguments = num_arguments
        self.launches, self.buffers, self.maps = [], [], []

    def call(self, name, *arguments):
        if name == "cuLibraryGetKernel":
            ctypes.cast(arguments[0], ctypes.POINTER(ctypes.c_void_p))[0] = len(self.launches) + 1
            self.launches.append({"entry": arguments[2].decode()})
        if name == "cuTensorMapEncodeTiled":
            def words(array):
                return list(array)
            to, dtype, rank, tensor, extents, strides, box, ones = arguments[:8]
            ctypes.c_uint64.from_address(to.value).value = len(self.maps) + 77
            self.maps.append((dtype, rank, tensor.value, words(extents), words(strides), words(box),
                              words(ones), arguments[8:]))
        if name == "cuKernelSetAttribute":
            self.launches[-1]["shared"] = arguments[1]
        if name == "cuLaunchKernelEx":
            config = ctypes.cast(arguments[0], ctypes.POINTER(launcher.LaunchConfig)).contents
            entry = self.launches[-1]["entry"]
            values = [ctypes.cast(arguments[2][i], ctypes.POINTER(ctypes.c_uint64)).contents.value
                      for i in range(self.num_arguments[entry])]
            self.launches[-1].update(grid=list(config.grid), block=list(config.block),
                                     attributes=[config.attributes[i].id
                                                 for i in range(config.num_attributes)],
                                     arguments=values)


class Launcher(unittest.TestCase):
    """The stand-alone launcher."""

    def plan(self, m, x=0x1000):
        path = ROOT / "tests" / "golden" / "manifest" / "sample.json"
        manifest = json.loads(path.read_text())
        driver = PretendedDriver({"sample_main_fast": 8, "sample_main_general": 8,
                                  "sample_pack": 3})
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sample.ptx").write_text("")
            manifest_path = pathlib.Path(folder, "sample.json")
            manifest_path.write_text(json.dumps(manifest))
            plan = launcher.Plan(manifest_path, driver)
        plan.solve(manifest["inputs"] + manifest["params"], {"x": [m, 64], "w": [64]})
        plan.pointers = {"x": x, "w": 0x2000, "y": 0x3000, "prepared": 0x4000,
                         "workspace": 0x5000, "state": 0x6000}
        return plan

    def test_expressions_mean_what_the_schema_says(self):
        names = {"m": 300, "n": 108}
        for text, value in [("ceil_div(m, 128) * 2", 6), ("(m + 7) / 8", 38), ("m % 7", 6),
                            ("min(m, n)", 108), ("m - (m - 1)", 1), ("m * -3", -900),
                            (5, 5)]:
            self.assertEqual(launcher.evaluate(text, names), value, text)

    def solved(self, tensors, shapes):
        plan = self.plan(300)
        plan.manifest["dims"] = [{"name": name} for name in "abc"]
        plan.solve([{"name": name, "shape": extents} for name, extents in tensors.items()], shapes)
        return [plan.names.get(name) for name in "abc"]

    def test_what_must_be_at_least_0(self):
        plan = self.plan(300)
        plan.manifest["at_least_0"] = ["m - 301"]
        with self.assertRaisesRegex(launcher.Failure,
                                    "^m - 301 is -1, expected at least 0; m is 300$"):
            plan.solve(plan.manifest["inputs"], {"x": [300, 64]})

    def test_extents_give_their_one_unknown_name(self):
        self.assertEqual(self.solved({"x": ["2 * a", 64]}, {"x": [10, 64]})[0], 5)
        # Names that stand alone come first; the name that a product gives may solve another.
        self.assertEqual(self.solved({"x": ["a * b * c"], "y": ["3 * b", "c"]},
                                     {"x": [7 * 5 * 2], "y": [15, 2]}), [7, 5, 2])
        self.assertEqual(self.solved({"x": ["a - 1", "a + b"], "y": ["a * b - 2 * c"]},
                                     {"x": [4, 11], "y": [16]}), [5, 6, 7])
        for tensors, shapes, text in [
                ({"x": ["2 * a"]}, {"x": [11]}, r"x: expected 2 \* a for a size a of .*, got 11"),
                ({"x": ["2 * a - 1"]}, {"x": [4]}, r"x: expected 2 \* a - 1 for a size a"),
                ({"x": ["b - a"], "y": ["b"]}, {"x": [6], "y": [5]}, r"x: expected b - a for"),
                ({"x": ["a * a"]}, {"x": [9]}, r"'a \* a' has no value, as no shape gives a"),
                ({"x": ["a * b"]}, {"x": [1]}, r"'a \* b' has no value, as no shape gives a, b"),
                ({"x": ["0 * a"]}, {"x": [0]}, "has no value"),
                ({"x": ["2 * a"], "y": ["a"]}, {"x": [10], "y": [4]}, r"expected shape \[8\]")]:
            with self.assertRaisesRegex(launcher.Failure, text):
                self.solved(tensors, shapes)

    def test_programs_run_with_packed_arguments(self):
        plan = self.plan(300)
        plan.run("prepare")
        plan.run("launch")
        pack, main = plan.driver.launches
        self.assertEqual(pack["entry"], "sample_pack")
        self.assertEqual(pack["arguments"], [0x2000, 0x4000, 77])  # the map's first word
        self.assertEqual(plan.driver.maps, [(6, 3, 0x2000 + 32, [48, 300, 1], [128, 300 * 128],
                                             [64, 8, 1], [1, 1, 1], (0, 3, 3, 0))])
        self.assertEqual(main["entry"], "sample_main_fast")
        self.assertEqual(main["grid"], [6, 2, 1])
        self.assertEqual(main["block"], [256, 1, 1])
        self.assertEqual(main["shared"], 98304)
        self.assertEqual(main["attributes"], [])
        self.assertEqual(main["arguments"], [0x1000, 0x2000, 0x3000, 0x4080, 0x5000 + 1200, 0x6000,
                                             300, 64])

    def test_the_first_variant_that_fits_is_taken(self):
        for m, x in [(302, 0x1000), (300, 0x1004), (1001, 0x1000)]:
            plan = self.plan(m, x)
            plan.run("launch")
            self.assertEqual(plan.driver.launches[0]["entry"], "sample_main_general", (m, x))
            self.assertEqual(plan.driver.launches[0]["attributes"], [launcher.ATTRIBUTE_CLUSTER])

    def test_shapes_are_checked(self):
        plan = self.plan(300)
        with self.assertRaisesRegex(launcher.Failure, r"w: expected shape \[64\], got \[63\]"):
            plan.solve(plan.manifest["params"], {"w": [63]})

    def test_npy_round_trip_and_refusals(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.npy")
            for shape in ([], [3], [2, 0], [2, 3]):
                count = 1
                for extent in shape:
                    count *= extent
                values = struct.pack(f"<{count}f", *range(count))
                launcher.write_npy(path, "f32", shape, values)
                self.assertEqual((path.stat().st_size - len(values)) % 64, 0)
                self.assertEqual(launcher.read_npy(path, "f32"), (shape, values))
            with self.assertRaisesRegex(launcher.Failure, "expected <f2 for f16, got <f4"):
                launcher.read_npy(path, "f16")
            path.write_bytes(path.read_bytes()[:-1])
            with self.assertRaisesRegex(launcher.Failure, "its size does not fit its shape"):
                launcher.read_npy(path, "f32")
            path.write_bytes(b"not numpy")
            with self.assertRaisesRegex(launcher.Failure, "not a .npy file"):
                launcher.read_npy(path, "f32")

    def test_structures_have_the_drivers_layout(self):
        self.assertEqual(ctypes.sizeof(launcher.LaunchAttribute), 72)
        self.assertEqual(ctypes.sizeof(launcher.LaunchConfig), 56)
        self.assertEqual(launcher.LaunchConfig.stream.offset, 32)


if __name__ == "__main__":
    unittest.main()
