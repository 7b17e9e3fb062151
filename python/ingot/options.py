# SPDX-License-Identifier: Apache-2.0
"""The options of a compile, which have the names of the command line: --matmul-precision, --math,
--target and --device."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ingot._arguments import short_repr, text, type_and_repr
from ingot._structs import Options
from ingot.errors import InvalidArgumentError

# In the order of ingot_precision and ingot_math.
MATMUL_PRECISIONS = ("highest", "pedantic", "high", "medium")
MATHS = ("relaxed", "strict", "finite")


def choice(what: str, names: Sequence[str], given: Any) -> int:
    """The index of a word in a list of words."""
    if not isinstance(given, str) or given not in names:
        raise InvalidArgumentError(f"{what}: expected {', '.join(names)}, got {short_repr(given)}")
    return names.index(given)


def _name(what: str, given: Any, several: bool = False) -> bytes | None:
    """A name for the C interface. `several`: the text may list several names."""
    if isinstance(given, (list, tuple, set)) and all(isinstance(name, str) for name in given):
        remedy = f"; write \"{','.join(given)}\"" if given and (several or len(given) == 1) else ""
        expected = "a text of names such as \"a100,h100\"" if several else "one name"
        raise InvalidArgumentError(
            f"{what}: expected {expected}, got {type_and_repr(given)}{remedy}")
    return None if given is None else text(what, given)


def options_of(matmul_precision: str | None, math: str, target: str | None, device: str | None,
               precision: str | None, several: bool = False) -> Options:
    """The C interface's options. `precision` is the old name of `matmul_precision`; `several`:
    `device` may name several cards."""
    if precision is not None and matmul_precision is not None:
        raise InvalidArgumentError("matmul_precision and precision were both given; precision is "
                                   "the old name of matmul_precision: give that alone")
    if precision is not None:
        warnings.warn("precision= is the old name of matmul_precision=: write that",
                      DeprecationWarning, stacklevel=3)
    name = "matmul_precision" if precision is None else "precision"
    given = matmul_precision if precision is None else precision
    return Options(
        precision=0 if given is None else choice(name, MATMUL_PRECISIONS, given),
        math=choice("math", MATHS, math),
        target=_name("target", target), device=_name("device", device, several))
