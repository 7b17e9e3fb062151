# SPDX-License-Identifier: Apache-2.0
"""Hints for names that PyTorch has and the library has not."""
import re

import ingot
import pytest

torch = pytest.importorskip("torch")


def names_of_torch():
    places = (torch, torch.Tensor, torch.nn.functional, torch.special, torch.linalg)
    return sorted({name for place in places for name in dir(place)
                   if not name.startswith("_") and name[0].islower()
                   and callable(getattr(place, name, None))})


def plain(name):
    return name.replace("_", "")


def test_no_function_of_pytorch_is_taken_for_another():
    wrong = {}
    for name in names_of_torch():
        try:
            ingot.GraphBuilder("g").call(name)
        except ingot.Error as error:  # all want an argument
            meant = re.search(r"unknown operator .* did you mean '(\w+)'", str(error))
        if meant and plain(meant[1]) != plain(name):
            wrong[name] = meant[1]
    assert wrong == {}
