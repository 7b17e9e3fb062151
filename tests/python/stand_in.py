# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the library's launches, for tests of launches without a GPU."""
from types import SimpleNamespace

import ingot
from ingot import _structs, context, launcher, param_sets


class Library:
    """Records the library's calls to prepare and to launch. `code` is the result of launches."""

    def __init__(self, monkeypatch):
        self.code = 0
        self.prepared, self.launched, self.opened = [], [], []
        own = SimpleNamespace(ingot_program_launch=self._launch, ingot_error_free=lambda error: 0)
        monkeypatch.setattr(launcher, "lib", SimpleNamespace(library=own, raise_error=self._raise))
        monkeypatch.setattr(param_sets, "lib", SimpleNamespace(call=self._call))
        monkeypatch.setattr(context, "_contexts", SimpleNamespace())
        monkeypatch.setattr(context, "_Context", self.opened.append)

    def _raise(self, code, error):
        raise ingot.LaunchError(f"code {code}")

    def _call(self, name, *arguments):
        given = arguments[1]._obj
        self.prepared.append((given.prepared, given.params[0].data if given.num_params else None))

    def _launch(self, handle, address, error):
        given = _structs.LaunchArguments.from_address(address)
        shapes = [tensor.shape[:tensor.rank] for tensors, count in (
            (given.inputs, given.num_inputs), (given.outputs, given.num_outputs))
            for tensor in tensors[:count]]
        self.launched.append(SimpleNamespace(
            shapes=shapes, x=given.inputs[0].data,
            pointers=[tensor.data for tensor in given.inputs[:given.num_inputs]],
            params=[(tensor.data, tensor.shape[:tensor.rank])
                    for tensor in given.params[:given.num_params]],
            outputs=[tensor.data for tensor in given.outputs[:given.num_outputs]],
            prepared=given.prepared, stream=given.stream,
            workspace=given.workspace, state=given.state))
        return self.code
