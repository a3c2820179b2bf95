"""bias.csv and confusion.csv: the scores and the predictions, for spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.formats.csvfiles import csv_text
from hornlens.pronouns.bias import RECORDED, ModelBias
from hornlens.pronouns.intervals import Score


def bias_csv(models: Sequence[ModelBias]) -> str:
    """Return bias.csv: a line for each model and occupation, the strongest bias first."""
    scores = [f"{name}{end}" for name in ("ppbs", "normalised") for end in ("", "_low", "_high")]
    header = ["model", "occupation", "people", "sentences", *scores, "accuracy", *RECORDED]

    def cells(score: Score | None) -> list[str]:
        given = (None,) * 3 if score is None else (score.mean, score.low, score.high)
        return [_number(value) for value in given]

    return csv_text(
        header,
        (
            [
                *(model.name, line.occupation, line.people, line.sentences),
                *cells(line.ppbs),
                *cells(line.normalised),
                _number(line.accuracy),
                *line.recorded.values(),
            ]
            for model in models
            for line in model.strongest_first()
        ),
    )


def confusion_csv(models: Sequence[ModelBias]) -> str:
    """Return confusion.csv: people by predicted (lines) and recorded (columns) gender."""
    return csv_text(
        ["model", "occupation", "predicted", *RECORDED],
        (
            [model.name, line.occupation, predicted, *row.values()]
            for model in models
            for line in model.strongest_first()
            for predicted, row in line.confusion.items()
        ),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
