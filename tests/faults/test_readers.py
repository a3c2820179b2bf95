"""Every reader on thousands of broken files: a value or one clear error, in little time and memory.

The files are valid ones with something changed inside: a field left out, a value of another kind, a
list too long. So most of them are still well-formed, and reach what lies behind the parser.
"""

import copy
import json
import os
import resource
import signal
import time
from pathlib import Path
from random import Random

import pytest
import yaml

import hornlens
from hornlens.cli.check import check_command
from hornlens.errors import HornlensError
from hornlens.exact.envelopes import envelope_of_formula, envelope_of_table
from hornlens.formats.backgrounds import read_background
from hornlens.formats.dimacs import read_dimacs
from hornlens.formats.tables import read_csv, read_cxt
from hornlens.models.table import TableModel
from hornlens.probes.loading import load_probe
from hornlens.pronouns.dataset import load_dataset
from hornlens.report.page import read_page
from hornlens.results.comparison import compare
from hornlens.results.requirements_file import read_requirements
from hornlens.results.rulesets import load_results
from hornlens.studies.plan import load_plan
from hornlens.verifying.verify import verify
from tests.faults import small
from tests.faults.rounds import rounds

MEMORY, SECONDS = 2 << 30, 20
ODD = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**18, 10**400, 0.5, -0.0, 1e308, float("inf")),
    *("", " ", "a", "nurse", "she", "1", "-1", "false", "⊥", "a & b -> c", "{label}", "{a:work}"),
    *("{", "\x00", "\x1b[2J", "\u2028", "x" * 5_000, "../..", "=1+1", "nan", "\ud83d\ude00"),
    *([], {}, [[]], [None], ["a", "a"], {"": ""}, {"name": "a"}, [{}], {"if": [], "then": None}),
)


def _probe(path):
    probe = load_probe(path)
    for wording in probe.wordings:
        assert wording
    return probe.space.background, next(probe.space.cells()), probe.prompt_count


def _result(path):
    result = hornlens.load(path.parent)
    return result.warnings, result.rules.csv(), result.rates, result.findings()


def _table(path):
    read = read_csv if path.suffix == ".csv" else read_cxt
    return envelope_of_table(read(path))


def _formula(path):
    return envelope_of_formula(read_dimacs(path))


def _background(path):
    return read_background(path, read_dimacs(path.with_name("formula.cnf")).vocabulary)


def _verify(path):
    return verify(path.parent)


def _page(path):
    return read_page(path.parent)


def _envelope_as_background(path):
    return read_background(path, hornlens.load(path.parent).envelope.vocabulary)


def _model(path):
    model = TableModel(path)
    model.check(["he", "she"])
    return list(model.score(small.prompts(), ["he", "she"]))


def _compare(path):
    return compare(load_results([path.parent, path.parents[1] / "other"], []))


def _check(path):
    return check_command([path.parent], path.parents[1] / "rules.yaml", "text", None)


READERS = {
    "probe": ("probe.yaml", [_probe]),
    "study": ("study.yaml", [load_plan]),
    "requirements": ("rules.yaml", [read_requirements]),
    "csv": ("table.csv", [_table]),
    "cxt": ("context.cxt", [_table]),
    "dimacs": ("formula.cnf", [_formula]),
    "background": ("horn.cnf", [_background]),
    "envelope": (
        "out/envelope.json",
        [
            _result,
            _page,
            _verify,
            _compare,
            _check,
            _envelope_as_background,
        ],
    ),
    "run": ("out/run.json", [_result, _page]),
    "scores": ("out/scores.csv", [_result, _model]),
    "comparison": ("compared/comparison.json", [_page]),
    "study document": ("studied/study.json", [_page]),
    "times": ("studied/times.json", [_page]),
    "bias": ("scored/bias.json", [_page]),
    "about people": ("people/dataset.json", [lambda path: load_dataset(path.parent)]),
    "people": ("people/people.csv", [lambda path: load_dataset(path.parent)]),
    "people's probe": ("people/probe.yaml", [lambda path: load_dataset(path.parent)]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a valid file of every kind."""
    folder = tmp_path_factory.mktemp("files")
    small.write_all(folder)
    small.dataset(folder / "people")
    small.people_model(folder / "people.csv")
    run = [
        ["extract", "probe.yaml", "--model", "table/scores.csv", "--out", "out"],
        ["extract", "probe.yaml", "--model", "table/other.csv", "--out", "other"],
        ["compare", "out", "other", "--out", "compared"],
        ["study", "study.yaml", "--out", "studied"],
        ["bias", "./people", "--model", "table/people.csv", "--out", "scored"],
    ]
    from hornlens.cli.app import app

    before = Path.cwd()
    cache = os.environ.get("HORNLENS_CACHE")
    os.environ["HORNLENS_CACHE"] = str(folder / "answers.sqlite")
    os.chdir(folder)
    try:
        for arguments in run:
            app([*arguments], standalone_mode=False)
    finally:
        os.chdir(before)
        os.environ.pop("HORNLENS_CACHE")
        if cache is not None:
            os.environ["HORNLENS_CACHE"] = cache
    return folder


def places(content, where=()):
    """All places in a document, as the keys that lead there."""
    yield where
    if isinstance(content, dict):
        for key, value in content.items():
            yield from places(value, (*where, key))
    elif isinstance(content, list):
        for key, value in enumerate(content[:6]):
            yield from places(value, (*where, key))


def change_document(content, rng):
    """Return a document with one to three places changed."""
    content = copy.deepcopy(content)
    for _ in range(rng.randint(1, 3)):
        all_places = [where for where in places(content) if where]
        if not all_places:
            return content
        *before, last = rng.choice(all_places)
        inside = content
        for key in before:
            inside = inside[key]
        match rng.randrange(5):
            case 0:
                del inside[last]
            case 1 | 2:
                inside[last] = copy.deepcopy(rng.choice(ODD))
            case 3 if isinstance(inside, list):
                inside.insert(last, copy.deepcopy(inside[last]))
            case _:  # what stands elsewhere
                *there, key = rng.choice(all_places)
                found = content
                for step in there:
                    found = found[step]
                inside[last] = copy.deepcopy(found[key])
    return content


def change_text(text, rng):
    """Return a text with some lines or cells changed."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        cells = lines[at].split("," if "," in text else " ")
        match rng.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[rng.randrange(len(lines))])
            case 2:
                lines[at] = str(rng.choice(ODD))
            case 3:
                cells.append(rng.choice(cells))
                lines[at] = ",".join(cells)
            case 4:
                cells[rng.randrange(len(cells))] = str(rng.choice(ODD))
                lines[at] = ("," if "," in text else " ").join(cells)
            case _:
                line = lines[at]
                here = rng.randrange(len(line) + 1)
                lines[at] = line[:here] + rng.choice('0-9",\n\rXx.{}[]:é\x00') + line[here + 1 :]
        lines = lines or [""]
    return "\n".join(lines)


def changed(path, text, rng):
    """Return the text of a file with something wrong inside."""
    if path.suffix == ".json":
        return json.dumps(change_document(json.loads(text), rng))
    if path.suffix == ".yaml" and rng.random() < 0.8:
        return yaml.safe_dump(change_document(yaml.safe_load(text), rng), allow_unicode=True)
    return change_text(text, rng)


class TooLong(BaseException):
    """More CPU time than any small input may take."""


def _out_of_time(*_):
    raise TooLong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", READERS)
def test_a_broken_file_is_a_value_or_one_clear_error(files, kind, capsys):
    name, readers = READERS[kind]
    path = files / name
    valid = path.read_text(encoding="utf-8")
    for read in readers:
        read(path)  # the file itself is read: so the mutants are near to something that works
    signal.signal(signal.SIGPROF, _out_of_time)
    told = 0
    try:
        for seed in range(rounds(30, 1_200)):
            rng = Random(f"{kind} {seed}")
            text = changed(path, valid, rng)
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            read = rng.choice(readers)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            clock = time.process_time()
            try:
                read(path)
            except HornlensError as error:
                told += 1
                assert len(str(error)) < 20_000
            except BaseException as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                raise AssertionError(f"{kind}, seed {seed}, {read}:\n{text[:3_000]}") from error
            assert time.process_time() - clock < SECONDS, text[:3_000]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        path.write_text(valid, encoding="utf-8")
        capsys.readouterr()
    assert told, "no file was refused: what was changed?"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < MEMORY
