# SPDX-License-Identifier: Apache-2.0
"""How a graph is compiled, under the names of the command line: --matmul-precision, --math,
--target and --device."""
from __future__ import annotations

from typing import Sequence

from ingot import _library as lib
from ingot.errors import InvalidArgumentError

# In the order of ingot_precision and ingot_math.
MATMUL_PRECISIONS = ("highest", "pedantic", "high", "medium")
MATHS = ("relaxed", "strict", "finite")


def choice(what: str, names: Sequence[str], given: str) -> int:
    """The place of a word among those that there are."""
    if not isinstance(given, str) or given not in names:
        raise InvalidArgumentError(f"{what}: expected {', '.join(names)}, got {lib.shown(given)}")
    return names.index(given)


def options_of(matmul_precision: str | None, math: str, target: str | None, device: str | None,
               precision: str | None):
    """The C interface's options. `precision` is the old name of `matmul_precision`."""
    if precision is not None and matmul_precision is not None:
        raise InvalidArgumentError("matmul_precision and precision were both given; precision is "
                                   "the old name of matmul_precision: give that alone")
    name = "matmul_precision" if precision is None else "precision"
    given = matmul_precision if precision is None else precision
    return lib.Options(
        precision=0 if given is None else choice(name, MATMUL_PRECISIONS, given),
        math=choice("math", MATHS, math),
        target=None if target is None else lib.text("target", target),
        device=None if device is None else lib.text("device", device))
