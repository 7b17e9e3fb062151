#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/manifest.schema.json accepts the manifests that Ingot writes, and refuses wrong ones.

A validator of the keywords that the schema uses stands below, so that the test always runs; where
the jsonschema package is installed, it has to agree.
"""
import copy
import json
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "manifest.schema.json").read_text())
SAMPLE = json.loads((ROOT / "tests" / "golden" / "manifest" / "sample.json").read_text())

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
KEYWORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "additionalProperties",
            "required", "properties", "const", "enum", "items", "minItems", "maxItems", "minimum",
            "maximum", "anyOf"}


def is_valid(value, schema):
    """Whether a JSON value fits a schema of the keywords above."""
    assert set(schema) <= KEYWORDS, f"unknown keyword in {sorted(schema)}"
    if "$ref" in schema:
        return is_valid(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    if "anyOf" in schema and not any(is_valid(value, branch) for branch in schema["anyOf"]):
        return False
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "type" in schema:
        fits = isinstance(value, TYPES[schema["type"]])
        if not fits or (schema["type"] == "integer" and isinstance(value, bool)):
            return False
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get(
            "maximum", value):
        return False
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return False
        return all(is_valid(item, schema.get("items", {})) for item in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        if not set(schema.get("required", [])) <= set(value):
            return False
        if schema.get("additionalProperties") is False and not set(value) <= set(known):
            return False
        return all(is_valid(member, known.get(name, {})) for name, member in value.items())
    return True


def places(value, path=()):
    """Paths to all values of a JSON document."""
    yield path
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, path + (name,))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, path + (index,))


def parent_of(document, path):
    for step in path[:-1]:
        document = document[step]
    return document


OPTIONAL = {"at_least_0", "most", "overlaps", "registers", "static_shared_bytes", "stack_bytes",
            "spill_bytes"}


class ManifestSchema(unittest.TestCase):
    """The published form of the manifest."""

    def check(self, document, expected, what):
        self.assertEqual(is_valid(document, SCHEMA), expected, what)
        try:
            import jsonschema  # pylint: disable=import-outside-toplevel
        except ImportError:
            return
        validator = jsonschema.Draft202012Validator(SCHEMA)
        self.assertEqual(validator.is_valid(document), expected, f"jsonschema: {what}")

    def test_the_sample_is_valid(self):
        self.check(SAMPLE, True, "the sample")

    def test_without_any_one_member_it_is_not(self):
        for path in places(SAMPLE):
            if not path or not isinstance(path[-1], str):
                continue
            broken = copy.deepcopy(SAMPLE)
            parent = parent_of(broken, path)
            del parent[path[-1]]
            needless = (path[-1], parent.get("kind")) in (("name", "dim"), ("offset", "tensormap"))
            self.check(broken, path[-1] in OPTIONAL or needless, f"without {path}")

    def test_with_any_one_value_of_another_type_it_is_not(self):
        for path in places(SAMPLE):
            if not path:
                continue
            broken = copy.deepcopy(SAMPLE)
            parent_of(broken, path)[path[-1]] = 1.5
            self.check(broken, False, f"a fraction at {path}")

    def test_with_an_unknown_member_it_is_not(self):
        for path in places(SAMPLE):
            broken = copy.deepcopy(SAMPLE)
            parent = parent_of(broken, path + (None,))
            if isinstance(parent, dict):
                parent["surprise"] = 1
                self.check(broken, False, f"surprise at {path}")


if __name__ == "__main__":
    unittest.main()
