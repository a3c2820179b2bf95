"""Running ONNX files, whole or up to some tensors inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError


@dataclass(frozen=True, eq=False)
class UpTo:
    """Runs a file up to some tensors: what they are for rows."""

    content: bytes
    tensors: tuple[str, ...]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the file, and no session."""
        return {"content": self.content, "tensors": self.tensors}

    @cached_property
    def _session(self) -> Any:
        import onnx

        model = onnx.load_from_string(self.content)
        if self.computed:
            del model.graph.output[:]
            model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self.computed)
        return session_of(model.SerializeToString())

    @cached_property
    def computed(self) -> list[str]:
        """The tensors that are no inputs."""
        import onnx

        given = {one.name for one in onnx.load_from_string(self.content).graph.input}
        return [name for name in self.tensors if name not in given]

    def kinds(self) -> list[str]:
        """Return the type of each tensor, as onnxruntime calls it."""
        session = self._session
        every = {one.name: one.type for one in (*session.get_inputs(), *session.get_outputs())}
        return [every[name] for name in self.tensors]

    def __call__(self, rows: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the values of the tensors, side by side."""
        values = dict(rows)
        if self.computed:
            values |= zip(self.computed, self._session.run(self.computed, rows), strict=True)
        parts = [np.asarray(values[name]) for name in self.tensors]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def session_of(content: bytes) -> Any:
    """Return what runs a file; an error names what to install."""
    try:
        import onnxruntime
    except ImportError:
        raise HornlensError("ONNX models need onnxruntime: pip install 'hornlens[onnx]'") from None
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
