"""Names that look alike are named, with the code points in which they differ."""

import numpy as np
import pytest

import hornlens
from hornlens import Nominal, Space
from hornlens.logic.lookalikes import look_alike_sentence, look_alikes
from hornlens.targets import FunctionTarget

PAIRS = {
    "NFC and NFD": ("café", "cafe\u0301"),
    "full width": ("nurse", "ｎurse"),
    "zero width": ("nurse", "nur\u200bse"),
    "joiner": ("nurse", "nurse\u200d"),
    "right to left": ("nurse", "\u2067nurse\u2069"),
    "Cyrillic": ("nurse", "nursе"),
    "Greek": ("Opera", "Οpera"),
    "ligature": ("office", "oﬃce"),
    "variation": ("nurse", "nurse\ufe0f"),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_names_that_look_alike_are_found(kind):
    one, other = PAIRS[kind]
    assert look_alikes(["pilot", one, "x", other]) == [(one, other)]
    assert "look alike and are not the same: " in look_alike_sentence(one, other)


def test_usual_names_do_not_look_alike():
    assert not look_alikes(["Nurse", "nurse", "nurse2", "é", "e", "ß", "ss", "мир", "mip", "日本"])
    assert look_alike_sentence("café", "cafe\u0301").endswith("U+00E9, U+0065 U+0301")


@pytest.mark.parametrize("kind", [kind for kind in PAIRS if kind != "right to left"])
def test_probes_tables_classifiers_and_gates_warn(kind, tmp_path):
    one, other = PAIRS[kind]
    sentence = look_alike_sentence(one, other)
    space = Space((Nominal("job", (one, other, "pilot")),), Nominal("answer", ("yes", "no")))
    result = hornlens.extract(FunctionTarget(lambda names: "yes", space))
    assert sentence in [warning.sentence.rstrip(".") for warning in result.warnings]
    rows = np.array([[0.0, 1.0], [1.0, 0.0]])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=[one, other])
    explained = hornlens.explain(lambda table: table[one] > 0.5, frame)
    assert sentence in explained.notes
    values = pandas.DataFrame({"job": [one, other, one, other], "x": [1, 2, 3, 4]})
    notes = hornlens.explain(lambda table: table["x"] > 2, values).notes
    assert {sentence, look_alike_sentence(other, one)} & {*notes}
    (tmp_path / "t.csv").write_text(f"{one},{other}\n1,0\n0,1\n", "utf-8")
    from hornlens.formats.anytables import open_table

    assert sentence in open_table(tmp_path / "t.csv").said
    plain = Space((Nominal("job", (one, "pilot")),), Nominal("answer", ("yes", "no")))
    result = hornlens.extract(FunctionTarget(lambda names: "yes", plain))
    with pytest.raises(hornlens.HornlensError, match="look alike and are not the same"):
        result.check({"require": [f"{other} -> yes"]})
