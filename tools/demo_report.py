"""How a demo model answers its probe's prompts, beside the data that it learned from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from hornlens.models.demo import TOKENIZERS
from tools.demo_sentences import (
    UNSET,
    Description,
    People,
    Phrasing,
    asked_of,
    descriptions,
    phrasings,
    read_counts,
)

MANY = 50
"""People whom a description has to fit for its ratio to be held against the model's."""


def ask(
    folder: Path, variant: str, phrasing: Phrasing, cells: Sequence[Description]
) -> list[dict[str, float]]:
    """Return the probabilities of the labels in a phrasing's sentence about each description."""
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZERS[variant]))
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]"), pad_token="[PAD]")
    session = onnxruntime.InferenceSession(
        str(folder / f"{variant}.onnx"), providers=["CPUExecutionProvider"]
    )
    codes = tokenizer.encode_batch([phrasing.tell(cell) for cell in cells])
    mask = tokenizer.token_to_id("[MASK]")
    given = {
        "input_ids": np.array([code.ids for code in codes]),
        "attention_mask": np.array([code.attention_mask for code in codes]),
        "mask_position": np.array([code.ids.index(mask) for code in codes]),
    }
    logits = session.run(["logits"], given)[0].astype(np.float64)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    columns = {gender: tokenizer.token_to_id(word) for gender, word in phrasing.labels.items()}
    return [{gender: float(row[i]) for gender, i in columns.items()} for row in chances]


def report(folder: Path, variant: str, counts: Path) -> None:
    """Print how every prompt of the model's probe is answered, beside the data."""
    fit, cells = descriptions(*read_counts(counts)), asked_of(variant)
    won = []
    for phrasing in phrasings(variant):
        if not phrasing.words_unset:
            continue
        answers = ask(folder, variant, phrasing, cells)
        he = {
            cell: a["male"] / (a["male"] + a["female"])
            for cell, a in zip(cells, answers, strict=True)
        }
        won.append([share > 0.5 for share in he.values()])
        words = "P({male}) against P({female})".format(**phrasing.labels)
        print(f"\n{variant}, {phrasing.name}: {words}, {len(cells)} prompts")
        _by_occupation(fit, he)
        _in_all(fit, he)
        both = min(a["male"] + a["female"] for a in answers)
        print(f"the two together: at least {both:.4f}")
    if len(won) > 1:
        same = sum(len(set(winners)) == 1 for winners in zip(*won, strict=True))
        print(f"\n{same} of {len(cells)} descriptions have the same winner in every phrasing")


def _men(fit: People, cell: Description) -> float | None:
    genders = fit.get(cell)
    return genders["male"] / sum(genders.values()) if genders else None


def _by_occupation(fit: People, he: dict[Description, float]) -> None:
    print(f"{'occupation':<22} model   data   He  She  agree with the data")
    totals = [0, 0, 0, 0]
    for occupation in dict.fromkeys(cell[0] for cell in he):
        mine = [cell for cell in he if cell[0] == occupation]
        wins = sum(he[cell] > 0.5 for cell in mine)
        decided = [(he[c], men) for c in mine if (men := _men(fit, c)) is not None and men != 0.5]
        agree = sum((share > 0.5) == (men > 0.5) for share, men in decided)
        alone = (occupation, "", "")
        print(
            f"{occupation or UNSET[0]:<22} {he[alone]:.3f}  {_men(fit, alone) or 0:.3f}  "
            f"{wins:>3}  {len(mine) - wins:>3}  {agree} of {len(decided)}"
        )
        for i, n in enumerate((wins, len(mine) - wins, agree, len(decided))):
            totals[i] += n
    print(f"{'all':<38} {totals[0]:>3}  {totals[1]:>3}  {totals[2]} of {totals[3]}")


def _in_all(fit: People, he: dict[Description, float]) -> None:
    close = sum(abs(p - 0.5) < 0.02 for p in he.values())
    print(f"within 0.02 of one half: {close}; from {min(he.values()):.3f}", end=" ")
    print(f"to {max(he.values()):.3f}")
    off = [
        abs(share - men)
        for cell, share in he.items()
        if sum(fit.get(cell, {}).values()) >= MANY and (men := _men(fit, cell)) is not None
    ]
    print(f"mean |model - data| over {len(off)} prompts with {MANY} people or more: ", end="")
    print(f"{fmean(off):.4f}, worst {max(off):.3f}")
