# SPDX-License-Identifier: Apache-2.0
"""A piece of an FX graph as a callable: its program, compiled for the precision that PyTorch is set
to, and the layouts of its tensors."""
from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from ingot.launcher import Launcher
from ingot.program import Program, compile
from ingot.torch.lowering import Lowered, Origin, lower_piece
from ingot.torch.partition import Piece
from ingot.torch_device import TorchDevice

# By the graph's text, precision and options. A program is here as long as a piece has it.
_programs: weakref.WeakValueDictionary[tuple[Any, ...], Program] = weakref.WeakValueDictionary()
_num_compiled = 0
_programs_lock = threading.Lock()  # of both


_older_setting = torch.get_float32_matmul_precision  # read by each call of a piece


def matmul_precision() -> str:
    """PyTorch's setting for f32 products, from either of its two interfaces."""
    try:
        return _older_setting()
    except RuntimeError:  # the newer interface was used, and the older one refuses to read it
        return {"tf32": "high", "bf16": "medium"}.get(
            torch.backends.cuda.matmul.fp32_precision, "highest")


def program_of(lowered: Lowered, precision: str, options: Mapping[str, str]) -> Program:
    """The program of a graph, which all pieces with the same graph share."""
    global _num_compiled
    key = (str(lowered.graph), precision, *sorted(options.items()))
    with _programs_lock:
        program = _programs.get(key)
    if program is None:
        program = compile(lowered.graph, matmul_precision=precision, **options)
        with _programs_lock:
            shared = _programs.setdefault(key, program)
            _num_compiled += shared is program
        program = shared
    return program


def num_compiled() -> int:
    """The number of programs that were compiled in this process."""
    return _num_compiled


def _remedy(node: fx.Node, origin: Origin) -> str:
    """The words of a message about a tensor that has changed since its piece was compiled."""
    if origin is Origin.COMPUTED:
        source = node.args[0] if node.target is operator.getitem else node
        return (f"the eager operator {source.target} gave it: correct the type, device and shape "
                "of its fake implementation (register_fake)")
    if origin is Origin.SAVED:
        return ("the forward call saved it, or autograd gave it as a gradient: leave its type, "
                "device and shape as they are in hooks")
    return "after changing a parameter or buffer call torch.compiler.reset()"


class CompiledPiece(torch.nn.Module):
    """Calls a piece with the tensors of its inputs, then of its params; gives its outputs.

    A tensor whose order in memory the graph knows is used without a copy. Others are made
    contiguous before each launch. `origins` are the origins of the tensors; one that is not listed
    is COMPUTED."""

    def __init__(self, piece: Piece, name: str, origins: Mapping[fx.Node, Origin],
                 options: Mapping[str, str]) -> None:
        super().__init__()
        self.lowered = lower_piece(name, piece.nodes, piece.outputs, origins)
        self.device = piece.outputs[0].meta["val"].device
        self.options = dict(options)
        self.num_inputs = len(self.lowered.inputs)
        orders = self.lowered.orders
        came = [origins.get(node, Origin.COMPUTED) for node in self.nodes()]
        # The launcher checks strides that nobody guards before each launch.
        self._unguarded = {i: _remedy(node, origin)
                           for i, (node, origin) in enumerate(zip(self.nodes(), came))
                           if origin is not Origin.ARGUMENT}
        self._moves = [None if order is None or order == sorted(order) else order
                       for order in orders]
        self._copies = [order is None for order in orders]
        # Those that are not taken as they come: the tensors' indices, and None for a copy.
        self._changes = [(i, move) for i, move in enumerate(self._moves)
                         if move is not None or (self._copies[i] and i not in self._unguarded)]
        self._computed = {i: node.meta["val"].dtype for i, node in enumerate(self.nodes())
                          if came[i] is Origin.COMPUTED}
        self._calls: dict[str, Callable[..., Any]] = {}  # by precision
        # The precision and its call, which are read and written as one.
        self._current: tuple[str | None, Any] = (None, None)
        self.program = program_of(self.lowered, matmul_precision(), self.options)
        self.place(range(len(self.nodes())), range(len(self.program.outputs)))

    @property
    def compile_options(self) -> dict[str, Any]:
        """The options of the program, as ingot.compile takes them."""
        return {"matmul_precision": matmul_precision(), **self.options}

    def nodes(self) -> list[fx.Node]:
        """The nodes whose tensors a call takes, in order."""
        return self.lowered.inputs + self.lowered.params

    def moves_text(self) -> list[str]:
        """Per input and param the Python text that a file appends to the tensor's name, so that the
        tensor gets the layout of the graph."""
        return [".contiguous()" if copies else f".permute({move})" if move else ""
                for copies, move in zip(self._copies, self._moves)]

    def out_moves_text(self) -> list[str]:
        """The same per output."""
        orders = [layout.order for layout in self.lowered.layouts]
        return [f".permute({[order.index(dim) for dim in range(len(order))]})"
                if order != sorted(order) else "" for order in orders]

    def place(self, places: Sequence[int], results: Sequence[int]) -> None:
        """Sets the indices of the inputs and params among a call's arguments, and the outputs that
        a call gives. Without it: in their order, and all of them."""
        self._places, self._results = list(places), list(results)
        self._gives_all = self._results == list(range(len(self.program.outputs)))

    def __call__(self, *arguments: torch.Tensor) -> list[torch.Tensor]:
        """As forward. A piece has no hooks, and hooks of all modules do not see it: Module.__call__
        would look for both at each call."""
        return self.forward(*arguments)

    def forward(self, *arguments: torch.Tensor) -> list[torch.Tensor]:
        known, call = self._current
        if matmul_precision() != known:
            call = self._switch()
        outputs = call(self._as_declared(arguments) if self._changes else arguments)
        return outputs if self._gives_all else [outputs[i] for i in self._results]

    def _as_declared(self, arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The tensors of the graph."""
        tensors = [arguments[place] for place in self._places]
        for i, move in self._changes:
            tensors[i] = tensors[i].contiguous() if move is None else tensors[i].permute(move)
        return tensors

    def _adapted(self, i: int, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor that nobody guards, as declared. An eager operator may give another type and
        device, and other strides, than its fake tensor says. The launcher refuses a parameter of
        another type or device, and any tensor of another shape."""
        if i in self._computed:
            tensor = tensor.to(self.device, self._computed[i])
        return tensor.contiguous()

    def _switch(self) -> Callable[..., Any]:
        """The call for the precision that is set."""
        precision = matmul_precision()
        call = self._calls.get(precision)
        if call is None:
            program = program_of(self.lowered, precision, self.options)
            launcher = Launcher(program, TorchDevice(self.device), fixed=True,
                                places=None if self._changes else self._places,
                                layouts=self.lowered.layouts, unguarded=self._unguarded,
                                adapt=self._adapted)
            call = self._calls.setdefault(precision, launcher.make_call())
            self.program = program
        self._current = precision, call
        return call
