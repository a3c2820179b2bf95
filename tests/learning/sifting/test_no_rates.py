"""Chosen cells are no sample: nothing that is shown takes shares among them for rates."""

import pytest

import hornlens
from hornlens import FunctionTarget, HornlensError, Nominal, Settings, Space
from hornlens.results.documents.flips import Flips
from tests.sifted_cases import MADE, case


@pytest.mark.parametrize("name", MADE)
def test_a_sifted_result_has_no_rates(name, tmp_path):
    result = case(name)
    assert not result.has_rates
    with pytest.raises(HornlensError, match=r"cells were chosen .* no rates"):
        _ = result.rates
    result.save(tmp_path)
    assert not (tmp_path / "rates.csv").exists() and not (tmp_path / "flips.csv").exists()
    again = hornlens.load(tmp_path)
    assert not again.has_rates and "rates" not in again.as_json()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'id="rates"' not in page and 'href="#rates"' not in page


def test_a_sift_that_asked_everything_has_rates(tmp_path):
    space = Space(
        (Nominal("a", ("a0", "a1")), Nominal("b", ("b0", "b1"))), Nominal("l", ("y", "n"))
    )
    target = FunctionTarget(lambda names: "n" if "a1" in names else "y", space)
    result = hornlens.extract(target, settings=Settings(equivalence="sift"))
    assert result.asked_all and result.has_rates
    assert result.rates["a"].widest.difference == 1.0
    result.save(tmp_path)
    assert (tmp_path / "rates.csv").is_file()


def test_another_result_takes_their_files_away(tmp_path):
    from tests import report_cases

    report_cases.one_attribute().save(tmp_path)
    assert (tmp_path / "rates.csv").is_file()
    case("listed").save(tmp_path)
    assert not (tmp_path / "rates.csv").exists()


def test_nothing_is_drawn_of_rates():
    pytest.importorskip("matplotlib")
    result = case("listed")
    for draw in (result.plot.map, lambda: result.plot.rates("a")):
        with pytest.raises(HornlensError, match=r"cells were chosen .* no rates"):
            draw()


def test_flips_are_examples_and_no_share():
    result = case("prompted")
    flips = result.flips("b")
    assert flips.chosen and not flips.proved
    assert "%" not in flips.sentence and flips.share is None


def flips(pairs, of_pairs, **more):
    return Flips("a", 0, 0, pairs, of_pairs, False, False, (), **more)


def test_sentences_of_flips_among_chosen_cells():
    assert flips(2, 6, chosen=True).sentence == (
        "Changing only a changed the answer in 2 of 6 pairs that were asked. The cells were chosen"
        ", so that this is no share of all pairs."
    )
    assert flips(0, 6, chosen=True).sentence == (
        "Changing only a changed the answer in none of 6 pairs that were asked. The cells were "
        "chosen, so that this is no share of all pairs."
    )
    assert "(33.33%)" in flips(2, 6).sentence
