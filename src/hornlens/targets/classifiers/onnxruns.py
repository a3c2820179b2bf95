"""Running ONNX files, whole or up to some tensors inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hornlens.errors import HornlensError

FEWEST = 64
"""Fewer rows than that are asked together with copies of the last one.

onnxruntime adds up the trees of up to 50 rows in another order than those of more: a row has to get
one answer, whoever is asked beside it.
"""


def answers_to_rows(
    session: Any, tensors: Sequence[str], rows: dict[str, NDArray[Any]]
) -> list[NDArray[Any]]:
    """Return the values of tensors for rows, which do not depend on how many there are."""
    count = min(map(len, rows.values()), default=0)
    short = max(0, FEWEST - count) if count else 0
    filled = {name: np.concatenate([own, *[own[-1:]] * short]) for name, own in rows.items()}
    return [np.asarray(values)[:count] for values in session.run(list(tensors), filled)]


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
            values |= zip(
                self.computed, answers_to_rows(self._session, self.computed, rows), strict=True
            )
        parts = [np.asarray(values[name]) for name in self.tensors]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def session_of(content: bytes) -> Any:
    """Return what runs a file; an error names what to install."""
    try:
        import onnxruntime
    except ImportError:
        raise HornlensError("ONNX models need onnxruntime: pip install 'hornlens[onnx]'") from None
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
