"""Data sets: periods, tables of people, what is on disk, what is built in, and the command."""

import csv
import itertools
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hornlens import __version__
from hornlens.cli.dataset import app
from hornlens.errors import HornlensError, InputError
from hornlens.probes.loading import load_probe
from hornlens.pronouns.continents import read_countries
from hornlens.pronouns.dataset import DATA, Group, builtin_names, load_dataset
from hornlens.pronouns.importing import import_people
from hornlens.pronouns.occupations import read_occupations
from hornlens.pronouns.people import probe_yaml
from hornlens.pronouns.periods import Periods, equal_frequency
from tests.command import hornlens

ROOT = Path(__file__).parents[2]
PAPER = Periods((1875, 1925, 1951, 1970))


def table(folder, text, name="people.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def imported(folder, text, cut=PAPER, **more):
    return import_people(table(folder, text), folder / "out", "test", cut, **more)


# Periods


def fairest_bounds(years, count):
    """Try all bounds: the first that cut the people, listed one by one, most evenly."""

    def unfairness(bounds):
        before = [sum(year < bound for year in years) for bound in bounds]
        return sum(abs(b * count - k * len(years)) for k, b in enumerate(before, start=1))

    return min(itertools.combinations(sorted(set(years))[1:], count - 1), key=unfairness)


@pytest.mark.parametrize("seed", range(300))
def test_equal_frequency_bounds_are_the_fairest_of_all(seed):
    rng = random.Random(seed)
    count = rng.randint(2, 5)
    spread = rng.choice([count, 8, 14])
    years = [round(rng.triangular(-spread, spread)) for _ in range(rng.randint(count, 40))]
    if len(set(years)) < count:
        with pytest.raises(InputError, match=f"{len(set(years))} distinct birth years cannot"):
            equal_frequency(Counter(years), count)
        return
    periods = equal_frequency(Counter(years), count)
    assert periods.bounds == fairest_bounds(years, count)
    assert {periods.of(year) for year in years} == set(periods.names)  # none is empty
    assert periods.method == "equal frequency"


@pytest.mark.parametrize("seed", range(20))
def test_where_every_year_is_another_equal_frequency_bounds_are_the_quantiles(seed):
    rng = random.Random(seed)
    count, size = rng.randint(2, 9), rng.randint(1, 50)
    years = sorted(rng.sample(range(-3000, 2020), count * size))
    assert equal_frequency(Counter(years), count).bounds == tuple(
        years[k * size] for k in range(1, count)
    )


def test_years_that_nobody_was_born_in_do_not_count():
    assert equal_frequency({1900: 3, 1910: 0, 1920: 3}, 2).bounds == (1920,)
    with pytest.raises(InputError, match="at least 2 periods"):
        equal_frequency({1900: 3, 1910: 3}, 1)


def test_the_paper_s_bounds_give_the_paper_s_periods_in_the_probe_s_words():
    period = load_probe("gender-occupation").attributes[0]
    assert PAPER.names == tuple(value.name for value in period.values)
    assert PAPER.texts == tuple(value.text for value in period.values)


@pytest.mark.parametrize(
    ("year", "period"),
    [
        (1874, "before 1875"),
        (1875, "1875-1925"),
        (1924, "1875-1925"),
        (1925, "1925-1951"),
        (1970, "after 1970"),
        (-2800, "before 1875"),
        (None, ""),
    ],
)
def test_a_year_on_a_bound_belongs_to_the_later_period(year, period):
    assert PAPER.of(year) == period


def test_years_before_christ_are_said_in_words():
    periods = Periods((-43, 0, 14))
    assert periods.names == ("before 44 BC", "44 BC-1 BC", "1 BC-14", "after 14")
    assert periods.texts[1:3] == ("between 44 BC and 1 BC", "between 1 BC and 14")


@pytest.mark.parametrize("bounds", [(), (1900, 1900), (1900, 1800)])
def test_bounds_must_increase(bounds):
    with pytest.raises(InputError, match="bound"):
        Periods(bounds)


# Tables of people


def test_a_table_becomes_groups_a_probe_and_an_account_of_both(tmp_path):
    dataset = imported(
        tmp_path,
        "occupation,gender,country_qid,birth_year,shoe size\n"
        "nurse,female,Q183,1875,38\n"
        "nurse,female,Q142,1924,39\n"
        'nurse,Male,Q159,,"4,5"\n'
        "\n"
        "astronaut,other,Q913582,1950,40\n"
        "astronaut,,,1970,41\n",
    )
    assert dataset.groups == (
        Group("astronaut", "1925-1951", "", "other", 1),
        Group("astronaut", "after 1970", "", "", 1),
        Group("nurse", "", "Eurasia", "male", 1),
        Group("nurse", "1875-1925", "Europe", "female", 2),
    )
    assert (tmp_path / "out" / "people.csv").read_text() == (
        "occupation,gender,birth_year,country,period,continent\n"
        "astronaut,,1970,,after 1970,\n"
        "astronaut,other,1950,Q913582,1925-1951,\n"
        "nurse,female,1875,Q183,1875-1925,Europe\n"
        "nurse,female,1924,Q142,1875-1925,Europe\n"
        "nurse,male,,Q159,,Eurasia\n"
    )
    about = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert (about["name"], about["people"], about["hornlens"]) == ("test", 5, __version__)
    assert about["source"] == "the table people.csv"
    assert about["transformation"] == dataset.transformation
    assert dataset.transformation["periods"] == {
        "method": "given",
        "bounds": [1875, 1925, 1951, 1970],
        "names": list(PAPER.names),
    }
    assert dataset.transformation["unknown"] == {
        "birth year: not recorded": 1,
        "continent: no citizenship": 1,
        "continent: not known of the country": 1,
        "gender: not recorded": 1,
    }
    assert dataset.transformation["outside_label"] == 2
    probe = load_probe(tmp_path / "out" / "probe.yaml")
    assert probe == dataset.probe
    assert [[v.name for v in a.values] for a in probe.attributes] == [
        list(PAPER.names),
        ["Europe", "Eurasia"],
        ["nurse", "astronaut"],
    ]


def test_a_cell_says_what_is_known_of_a_group(tmp_path):
    dataset = imported(
        tmp_path, "occupation,gender,birth_year,continent\nnurse,male,1900,\n,female,,Asia\n"
    )
    said = [dataset.probe.render(dataset.cell(group))[0] for group in dataset.groups]
    assert said == [
        "[MASK] was born in an unknown time period in Asia and is a not known occupation.",
        "[MASK] was born between 1875 and 1925 in an unknown place and is a nurse.",
    ]


def test_the_same_people_in_any_order_are_the_same_data_set(tmp_path):
    rng = random.Random(3)
    rows = [
        f"{rng.choice(['nurse', 'cook'])},{rng.choice(['male', 'female', ''])},"
        f"{rng.choice(['Q183', 'Q159', ''])},{rng.choice(['', '1900', '1950', '-5'])}"
        for _ in range(200)
    ]
    seen = set()
    for _ in range(3):
        rng.shuffle(rows)
        imported(tmp_path, "occupation,gender,country_qid,birth_year\n" + "\n".join(rows), cut=2)
        seen.add(tuple((tmp_path / "out" / n).read_bytes() for n in ("people.csv", "dataset.json")))
    assert len(seen) == 1


def test_counts_and_rows_are_the_same_thing(tmp_path):
    header = "occupation,gender,birth_year,continent"
    rows = ["nurse,male,1900,Asia"] * 3 + ["nurse,female,1960,Europe"] * 2
    one_by_one = imported(tmp_path, "\n".join([header, *rows]), cut=2)
    files = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    counted = imported(
        tmp_path,
        f"{header},people\nnurse,male,1900,Asia,3\nnurse,female,1960,Europe,1\n"
        "nurse,female,1960,Europe,\nnurse,male,1800,Asia,0\n",
        cut=2,
    )
    assert counted == one_by_one and counted.people == 5
    assert files == {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}


def test_a_data_set_can_be_imported_again_and_cut_otherwise(tmp_path):
    first = imported(
        tmp_path,
        "occupation,gender,country_qid,birth_year,person\n"
        "nurse,male,Q183 Q142,1900,Q7\nnurse,female,Q183 Q30,1960,Q10\npriest,male,,,Q7\n",
    )
    assert [g.continent for g in first.groups] == ["Europe", "", ""]
    again = import_people(
        tmp_path / "out" / "people.csv", tmp_path / "again", "test", Periods((1950,))
    )
    with open(tmp_path / "again" / "people.csv", newline="") as file:
        rows = [(r["person"], r["country"], r["period"]) for r in csv.DictReader(file)]
    assert rows == [
        ("Q7", "Q142 Q183", "before 1950"),
        ("Q10", "Q30 Q183", "after 1950"),
        ("Q7", "", ""),
    ]
    assert again.people == first.people


def test_a_person_counts_once_for_each_occupation(tmp_path):
    dataset = imported(
        tmp_path,
        "occupation,gender,birth_year,person\nnurse,male,1900,Q7\nnurse,male,1900,Q7\n"
        "priest,male,1900,Q7\n",
    )
    assert dataset.people == 2
    assert dataset.transformation["left_out"] == {"the same person and occupation again": 1}


def test_another_table_of_countries_replaces_the_built_in_one(tmp_path):
    countries = table(
        tmp_path,
        'country_qid,country,continent\nQ1,"Korea, North",Asia\nQ2,Nowhere,?\nQ3,"a ""b""",\n',
        "countries.csv",
    )
    dataset = imported(
        tmp_path,
        "occupation,gender,country_qid\nnurse,male,Q1\nnurse,male,Q2\nnurse,male,Q3\n"
        "nurse,male,Q183\n",
        countries=countries,
    )
    assert [(g.continent, g.people) for g in dataset.groups] == [("", 3), ("Asia", 1)]
    assert dataset.transformation["continents"]["countries"] == "countries.csv"


def test_a_continent_in_the_table_goes_before_the_country_s(tmp_path):
    dataset = imported(
        tmp_path,
        "occupation,gender,country_qid,continent\nnurse,male,Q183,Asia\nnurse,male,Q183,?\n",
    )
    assert [g.continent for g in dataset.groups] == ["Asia", "Europe"]


def test_without_any_continent_the_probe_has_the_built_in_ones(tmp_path):
    dataset = imported(tmp_path, "occupation,gender,birth_year\nnurse,male,1900\n")
    built_in = load_probe("gender-occupation").attributes[1]
    assert dataset.probe.attributes[1] == built_in


HEADER = "occupation,gender,birth_year,person,people\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEADER + "nurse,male,1900,,\nnurse,male,19OO,,\n", 3, "birth_year: '19OO' is not a year"),
        (HEADER + "nurse,male,1900.0,,\n", 2, "birth_year: '1900.0' is not a year"),
        (HEADER + '"a\nb",male,19x,,\n', 3, "birth_year"),
        (HEADER + "nurse,M,1900,,\n", 2, "gender: 'M' is none of male, female and other"),
        (HEADER + "nurse,male,1900,Florence,\n", 2, "names of people are not stored"),
        (HEADER + "nurse,male,1900,,many\n", 2, "people: 'many' is not a number of people"),
        (HEADER + "nurse,male,1900,,-1\n", 2, "people: '-1' is not a number of people"),
        (HEADER + "nurse,male,1900,Q1,2\n", 2, "people: Q1 is one person, not 2"),
        (HEADER + "nurse,male,1900,Q1,\nnurse,male,1901,Q1,\n", 3, "described otherwise"),
        (HEADER + "nurse,male,1900\n", 2, "3 cells, but the header has 5 columns"),
        (HEADER + "nu\trse,male,1900,,\n", 2, "control character"),
        (HEADER + 'nurse,"male"x,1900,,\n', 2, "not a well-formed CSV line"),
        (HEADER.encode() + b"nurse,male,1900,,\n\xff,male,1900,,\n", 3, "is not UTF-8"),
        (HEADER.encode() + b"nu\0rse,male,1900,,\n", 2, "is a binary file"),
        ("occupation,birth_year\nnurse,1900\n", 1, "there is no column 'gender'"),
        ("occupation,gender,gender\nnurse,male,male\n", 1, "two columns have the name 'gender'"),
        (HEADER, None, "has no people in it"),
        ("", None, "is empty"),
    ],
)
def test_a_bad_row_is_an_error_with_its_line(tmp_path, text, line, message):
    with pytest.raises(InputError) as caught:
        imported(tmp_path, text)
    assert message in str(caught.value)
    assert (caught.value.path, caught.value.line) == (tmp_path / "people.csv", line)
    assert not (tmp_path / "out").exists()


def test_an_occupation_that_is_named_like_something_else_is_refused(tmp_path):
    with pytest.raises(InputError, match="a second value 'female'"):
        imported(tmp_path, "occupation,gender,birth_year\nfemale,male,1900\n")
    with pytest.raises(InputError, match="no occupation is known"):
        imported(tmp_path, "occupation,gender,birth_year\n,male,1900\n")
    assert not (tmp_path / "out").exists()


def test_names_that_yaml_reads_otherwise_survive(tmp_path):
    names = ["no", "1984", "null", "a: b", "{x}", "naïve “artist”", "- dash", "# hash"]
    text = "occupation,gender,birth_year\n" + "".join(f"{name},male,1900\n" for name in names)
    dataset = imported(tmp_path, text)
    assert {group.occupation for group in dataset.groups} == set(names)
    assert {value.name for value in dataset.probe.attributes[2].values} == set(names)


# On disk


def test_a_folder_that_is_not_a_whole_data_set_is_refused(tmp_path):
    with pytest.raises(InputError, match="nor a built-in data set \\(there are: people\\)"):
        load_dataset("nowhere")
    with pytest.raises(InputError, match="it has no dataset"):
        load_dataset(tmp_path)
    imported(tmp_path, "occupation,gender,birth_year\nnurse,male,1900\n")
    people, about = tmp_path / "out" / "people.csv", tmp_path / "out" / "dataset.json"
    good = people.read_text()
    people.write_text(good.replace("nurse", "surgeon"))
    with pytest.raises(
        InputError, match=r"people.csv:2: occupation: 'surgeon' is not in the probe"
    ):
        load_dataset(tmp_path / "out")
    people.write_text(good.replace(",male", ",many"))
    with pytest.raises(InputError, match="gender: 'many'"):
        load_dataset(tmp_path / "out")
    people.write_text(good)
    about.write_text("[1]")
    with pytest.raises(InputError, match="'name' is missing"):
        load_dataset(tmp_path / "out")
    about.write_text("{")
    with pytest.raises(InputError, match=r"dataset.json:1: is not JSON"):
        load_dataset(tmp_path / "out")


def test_groups_of_nobody_are_no_groups(tmp_path):
    imported(tmp_path, "occupation,gender,birth_year,people\nnurse,male,1900,2\n")
    people = tmp_path / "out" / "people.csv"
    people.write_text(people.read_text() + "nurse,female,1900,,1875-1925,,0\n")
    assert [g.gender for g in load_dataset(tmp_path / "out").groups] == ["male"]


def test_a_data_set_that_is_half_replaced_is_none(tmp_path):
    imported(tmp_path, "occupation,gender,birth_year\nnurse,male,1900\n")
    probe = tmp_path / "out" / "probe.yaml"
    probe.unlink()
    probe.mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        imported(tmp_path, "occupation,gender,birth_year\nnurse,female,1900\n")
    with pytest.raises(InputError, match="is not a data set"):
        load_dataset(tmp_path / "out")


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    text = "\ufeffoccupation,gender,birth_year\r\nnurse,male,1900\r\n"
    assert imported(tmp_path, text).groups[0].occupation == "nurse"


def test_the_probe_must_be_one_about_people(tmp_path):
    imported(tmp_path, "occupation,gender,birth_year\nnurse,male,1900\n")
    probe = tmp_path / "out" / "probe.yaml"
    probe.write_text(probe.read_text().replace("name: female", "name: woman"))
    with pytest.raises(InputError, match="the label gender"):
        load_dataset(tmp_path / "out")


# Built in


def test_the_built_in_people_are_those_that_the_demo_model_learned_from():
    texts = dict(zip(PAPER.names, PAPER.texts, strict=True)) | {"": ""}
    with open(ROOT / "tools" / "data" / "people_counts.csv", newline="") as file:
        wanted = {
            (r["occupation"], r["period"], r["continent"], r["gender"], int(r["people"]))
            for r in csv.DictReader(file)
        }
    dataset = load_dataset("people")
    assert builtin_names() == ["people"]
    assert len(dataset.groups) == len(wanted) and list(dataset.groups) == sorted(dataset.groups)
    assert {
        (g.occupation, texts[g.period], g.continent, g.gender, g.people) for g in dataset.groups
    } == wanted
    about = json.loads((DATA / "people" / "dataset.json").read_text())
    assert dataset.people == about["people"] == 264_405
    unknown = dataset.transformation["unknown"]
    assert sum(g.people for g in dataset.groups if not g.period) == sum(
        number for reason, number in unknown.items() if reason.startswith("birth year")
    )
    assert sum(g.people for g in dataset.groups if not g.continent) == sum(
        number for reason, number in unknown.items() if reason.startswith("continent")
    )


def test_the_built_in_probe_of_people_is_made_as_every_other():
    groups = load_dataset("people").groups
    made = probe_yaml(
        "people", PAPER, {g.continent for g in groups}, {g.occupation for g in groups}
    )
    assert (DATA / "people" / "probe.yaml").read_text() == made


def test_the_built_in_countries_lie_on_the_paper_s_continents():
    paper = {value.name for value in load_probe("gender-occupation").attributes[1].values}
    countries = read_countries()
    assert len(countries) == 903 and set(countries.values()) == paper | {""}
    assert sum(not continent for continent in countries.values()) == 27
    known = {"Q183": "Europe", "Q159": "Eurasia", "Q804": "Americas", "Q408": "Oceania"}
    assert known.items() <= countries.items()


def test_the_built_in_occupations_add_up():
    occupations = read_occupations()
    assert len(occupations) == 56
    assert sum(bool(occupation.qid) for occupation in occupations) == 13
    for occupation in occupations:
        assert bool(occupation.qid) == bool(occupation.checked)
        total, male, female, other = occupation.figures[:4]
        if total:
            assert int(total) == int(male) + int(female) + int(other), occupation
        assert all(-1 <= float(score) <= 1 for score in occupation.figures[4:] if score)
    assert [o.name for o in occupations if o.checked == "unchecked"] == ["banker"]


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("nurse,186360\n", 2, "'186360' is not an id on Wikidata"),
        ("nurse,Q1\nnurse,Q2\n", 3, "a second occupation 'nurse'"),
        ("nurse,Q1\nmatron,Q1\n", 3, "a second occupation with the id Q1"),
        (",Q1\n", 2, "has no name"),
        ("", None, "names no occupation"),
    ],
)
def test_a_bad_list_of_occupations_is_an_error_with_its_line(tmp_path, rows, line, message):
    path = table(tmp_path, "occupation,wikidata_qid\n" + rows)
    with pytest.raises(InputError, match=message) as caught:
        read_occupations(path)
    assert caught.value.line == line


# The command


def test_the_command_imports_shows_and_the_probe_can_be_asked(tmp_path):
    people = table(
        tmp_path,
        "occupation,gender,country_qid,birth_year\nnurse,female,Q183,1900\nnurse,male,Q30,1950\n"
        "priest,male,Q159,-43\npriest,other,,1980\n",
    )
    shown = hornlens("dataset", "import", people, "--out", tmp_path / "mine", "--periods", "2")
    assert shown.returncode == 0, shown.stderr
    assert "mine: 4 people, from the table people.csv." in shown.stdout
    assert "Bounds of the periods: 1950 (equal frequency)." in shown.stdout
    again = hornlens("dataset", "show", tmp_path / "mine")
    assert shown.stdout.startswith(again.stdout) and again.stdout.count("\n") > 8
    assert "priest      2       0       1     1      0" in again.stdout
    assert "1 of another or unknown gender" in again.stdout
    asked = hornlens(
        *("extract", tmp_path / "mine" / "probe.yaml", "--no-cache", "--out", tmp_path / "rules")
    )
    assert asked.returncode == 0, asked.stderr
    envelope = json.loads((tmp_path / "rules" / "envelope.json").read_text())
    assert envelope["probe"]["attributes"]["period"] == ["before 1950", "after 1950"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--periods", "9"], "1 distinct birth years cannot be cut into 9 periods"),
        (["--periods", "3", "--bounds", "1900"], "give --periods or --bounds, not both"),
        (["--bounds", "1900,x"], "--bounds takes years separated by commas"),
        (["--bounds", "1950,1900"], "must increase, but 1900 comes after 1950"),
        (["--countries", "nowhere.csv"], "nowhere.csv: no such file"),
    ],
)
def test_bad_options_are_errors(tmp_path, options, message):
    people = table(tmp_path, "occupation,gender,birth_year\nnurse,female,1900\n")
    words = ["import", str(people), "--out", str(tmp_path / "mine"), *options]
    result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, HornlensError) and message in str(result.exception)
    assert result.output == "" and not (tmp_path / "mine").exists()


def test_an_error_of_the_command_is_one_line_and_exit_code_2(tmp_path):
    people = table(tmp_path, "occupation,gender,birth_year\nnurse,female,19x\n")
    shown = hornlens("dataset", "import", people, "--out", tmp_path / "mine")
    assert shown.returncode == 2 and shown.stdout == ""
    assert shown.stderr == (
        f"hornlens: {people}:2: birth_year: '19x' is not a year; leave it empty if unknown\n"
    )


def test_bounds_before_christ_can_be_given(tmp_path):
    people = table(tmp_path, "occupation,gender,birth_year\nnurse,female,1900\n")
    words = ["import", str(people), "--out", str(tmp_path / "a"), "--bounds", "-43,1875"]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0 and shown.stderr == ""
    assert "before 44 BC 0; 44 BC-1875 0; after 1875 1" in shown.stdout


def test_the_built_in_lists_are_printed():
    assert "people    264405  Wikidata (CC0)" in CliRunner().invoke(app, ["list"]).stdout
    lines = CliRunner().invoke(app, ["occupations"]).stdout.splitlines()
    assert len(lines) == 60 and lines[3].split() == [
        "nurse",
        "Q186360",
        "2726",
        "252",
        "2472",
        "-0.825202",
    ]
    assert sum(" ? " in line for line in lines[2:58]) == 1


def test_the_printed_list_of_occupations_can_be_changed_and_given_back(tmp_path):
    printed = CliRunner().invoke(app, ["occupations", "--format", "csv"]).stdout
    assert read_occupations(table(tmp_path, printed)) == read_occupations()


def test_importing_never_overwrites_what_is_not_a_data_sets(tmp_path):
    table = tmp_path / "people.csv"
    text = "occupation,gender,birth_year\nnurse,female,1900\nnurse,male,1950\n"
    table.write_text(text)
    shown = hornlens("dataset", "import", table, "--out", tmp_path, "--periods", 2)
    assert shown.returncode == 2 and "would overwrite it" in shown.stderr
    other = tmp_path / "other"
    other.mkdir()
    (other / "probe.yaml").write_text("mine: true\n")
    shown = hornlens("dataset", "import", table, "--out", other, "--periods", 2)
    assert shown.returncode == 2 and "is not a data set's file" in shown.stderr
    assert table.read_text() == text and (other / "probe.yaml").read_text() == "mine: true\n"
    for _ in range(2):  # its own files it may write again
        shown = hornlens("dataset", "import", table, "--out", tmp_path / "new", "--periods", 2)
        assert shown.returncode == 0, shown.stderr


def test_an_occupation_called_like_a_continent_is_refused_in_plain_words(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text(
        "occupation,gender,birth_year,continent\nEurope,female,1900,Europe\nnurse,male,1950,Asia\n"
    )
    shown = hornlens("dataset", "import", table, "--out", tmp_path / "out", "--periods", 2)
    assert shown.returncode == 2 and "need different names" in shown.stderr
    assert "probe.yaml" not in shown.stderr and not (tmp_path / "out").exists()
