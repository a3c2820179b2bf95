"""The command line as people and scripts use it: real processes, real files, exit codes."""

import csv
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hornlens import __version__
from hornlens.errors import HornlensError
from hornlens.extraction.formulas import LearnSettings
from tests import brute
from tests.command import START, hornlens
from tests.targets import KINDS, random_formula

EXAMPLES = Path(__file__).parents[2] / "examples"
PRONOUNS, APPENDIX = EXAMPLES / "pronouns.cnf", EXAMPLES / "appendix.cnf"


def test_version_and_help():
    assert hornlens("--version").stdout == f"hornlens {__version__}\n"
    shown = hornlens("--help")
    assert shown.returncode == 0 and "envelope" in shown.stdout and "learn" in shown.stdout
    for command in ("envelope", "learn"):
        assert hornlens(command, "--help").returncode == 0
    assert hornlens("--help", "learn").stdout == shown.stdout
    for group in ("probe", "cache", "dataset"):
        shown = hornlens(group)
        assert shown.returncode == 0 and "\nCommands:\n" in shown.stdout
        assert shown.stdout == hornlens(group, "--help").stdout
    assert hornlens("--", "probe", "list").stdout == hornlens("probe", "list").stdout != ""


def test_the_envelope_as_text():
    shown = hornlens("envelope", PRONOUNS)
    assert shown.returncode == 0 and shown.stderr == ""
    assert "nurse ∧ he → ⊥" in shown.stdout
    assert "footballer ∧ she → retired" in shown.stdout
    assert "exact" in shown.stdout
    assert (
        "1 interpretation is rejected by the target but by no Horn rule: {footballer}"
        in shown.stdout
    )


def proved(content):
    """Return the rules of a result's JSON without their warrants: each of them is proved."""
    rules = [dict(line) for line in content["rules"]]
    assert [line.pop("warrant") for line in rules] == [{"kind": "proved"}] * len(rules)
    return rules


def test_the_envelope_as_json_is_nothing_but_json():
    shown = hornlens("envelope", PRONOUNS, "--format", "json")
    content = json.loads(shown.stdout)
    assert shown.stderr == ""
    assert content["hornlens"] == __version__
    assert {"if": ["nurse", "he"], "then": None} in proved(content)
    assert content["non_horn"] == {"count": 1, "examples": [["footballer"]]}
    assert content["certificate"]["kind"] == "exact"
    assert {"equivalence_queries", "membership_queries"} <= set(content["statistics"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_json_envelope_is_the_dg_basis(tmp_path, kind):
    formula, clauses = random_formula(11, kind)
    path = tmp_path / "f.cnf"
    path.write_text(
        f"p cnf {formula.width} {len(clauses)}\n"
        + "".join(" ".join(map(str, [*clause, 0])) + "\n" for clause in clauses)
    )
    content = json.loads(hornlens("envelope", path, "--format", "json").stdout)
    assert content["variables"] == [f"x{i + 1}" for i in range(formula.width)]
    index = {name: i for i, name in enumerate(content["variables"])}

    def mask(names):
        assert names == sorted(names, key=index.get)
        return sum(1 << index[name] for name in names)

    found = {
        (mask(r["if"]), None if r["then"] is None else mask(r["if"]) | mask(r["then"]))
        for r in content["rules"]
    }
    models = brute.positives_of(clauses, formula.width)
    assert found == brute.dg(models, range(1 << formula.width))


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("p cnf 2 1\n0\n", [{"if": [], "then": None}]),
        ("p cnf 2 2\n1 0\n-1 0\n", [{"if": [], "then": None}]),
        ("p cnf 0 0\n", []),
        ("p cnf 0 1\n0\n", [{"if": [], "then": None}]),
        ("p cnf 3 0\n", []),
        ("p cnf 3 2\n1 -1 0\n2 3 -3 0\n", []),
        ("p cnf 1 1\n1 0\n", [{"if": [], "then": ["x1"]}]),
        ("p cnf 1 1\n-1 0\n", [{"if": ["x1"], "then": None}]),
        ("p cnf 4 3\n-2 3 0\n-2 3 0\n3 -2 -2 0\n", [{"if": ["x2"], "then": ["x3"]}]),
    ],
)
def test_the_edge_cases_have_the_right_answers(tmp_path, text, rules):
    path = tmp_path / "f.cnf"
    path.write_text(text)
    assert proved(json.loads(hornlens("envelope", path, "--format", "json").stdout)) == rules
    for algorithm in ("envelope", "horn", "horn1"):
        learned = hornlens("learn", path, "--format", "json", "--algorithm", algorithm)
        assert proved(json.loads(learned.stdout)) == rules, algorithm


def test_tables_and_contexts(tmp_path):
    shown = hornlens("envelope", EXAMPLES / "animals.csv", "--format", "csv")
    line = next(csv.DictReader(io.StringIO(shown.stdout)))
    assert (line["if"], line["then"], line["support"]) == ("swims", "lays eggs", "3")
    assert (line["canonical_if"], line["canonical_then"]) == ("swims", "lays eggs")
    context = tmp_path / "c.cxt"
    context.write_text("B\n\n2\n2\n\no1\no2\na\nb\nXX\n.X\n")
    content = json.loads(hornlens("envelope", context, "--format", "json").stdout)
    assert proved(content) == [{"if": [], "then": ["b"]}]
    header_only = tmp_path / "t.csv"
    header_only.write_text("a,b\n")
    content = json.loads(hornlens("envelope", header_only, "--format", "json").stdout)
    assert proved(content) == [{"if": [], "then": None}]


def test_a_background_is_taken_for_granted_and_not_repeated(tmp_path):
    background = tmp_path / "bg.cnf"
    background.write_text("c var 1 she\nc var 2 he\np cnf 2 1\n-1 -2 0\n")
    content = json.loads(
        hornlens("envelope", PRONOUNS, "--format", "json", "--background", background).stdout
    )
    assert content["background"] == [{"if": ["she", "he"], "then": None}]
    assert {"if": ["she", "he"], "then": None} not in proved(content)
    assert len(content["rules"]) == 6


@pytest.mark.parametrize("form", ["dimacs", "csv", "latex", "prolog"])
def test_the_other_formats_print(form):
    shown = hornlens("envelope", PRONOUNS, "--format", form)
    assert shown.returncode == 0 and shown.stderr == "" and "nurse" in shown.stdout


@pytest.mark.parametrize("equivalence", ["exact", "pac", "budget"])
@pytest.mark.parametrize("goal", ["envelope", "cnf"])
def test_learning_shows_its_queries_beside_the_bounds(equivalence, goal):
    shown = hornlens("learn", PRONOUNS, "--equivalence", equivalence, "--goal", goal, "--seed", "3")
    assert shown.returncode == 0 and shown.stderr == ""
    assert "proved bound" in shown.stdout and "membership: refinement" in shown.stdout
    assert "nurse" in shown.stdout


def test_exhaustive_is_another_word_for_exact():
    said = [
        hornlens("learn", PRONOUNS, "--equivalence", word, "--seed", "3", "--format", "json").stdout
        for word in ("exact", "exhaustive")
    ]
    assert said[0] == said[1] and json.loads(said[0])["settings"]["equivalence"] == "exact"


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithm": "horn2"},
        {"goal": "formula"},
        {"equivalence": "all"},
        {"epsilon": 2},
        {"algorithm": "horn", "goal": "envelope"},
        {"via_encoding": True, "equivalence": "pac"},
    ],
)
def test_settings_that_make_no_sense_are_refused_by_the_library(wrong):
    with pytest.raises(HornlensError):
        LearnSettings(**wrong)


def test_the_trace_can_be_followed():
    shown = hornlens("learn", APPENDIX, "--goal", "cnf", "--trace").stdout
    assert "Is the hypothesis equivalent to the target?  No:" in shown
    assert "is appended to E⁻ as e1" in shown
    assert "joins E⁺" in shown
    assert "moves to E^nh" in shown
    assert "Together with one quasi-Horn rule for each of them, that is the formula." in shown


@pytest.mark.parametrize("how", [["--via-encoding"], ["--goal", "cnf"]])
def test_a_cnf_can_be_learned_both_ways(how):
    content = json.loads(hornlens("learn", APPENDIX, *how, "--format", "json").stdout)

    def accepted(x):
        return all(not set(c["if"]) <= x or set(c["any"]) & x for c in content["cnf"])

    for x in range(16):
        true = {name for i, name in enumerate("abcd") if x >> i & 1}
        assert accepted(true) == ("a" not in true and bool(true & {"b", "c"})), true
    assert "decoded:" in hornlens("learn", APPENDIX, "--via-encoding").stdout


@pytest.mark.parametrize("algorithm", ["horn", "horn1"])
def test_the_classics_refuse_a_target_that_is_not_horn(algorithm):
    shown = hornlens("learn", APPENDIX, "--algorithm", algorithm)
    assert shown.returncode == 1 and shown.stdout == ""
    assert "the target is not Horn: it accepts" in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_a_budget_says_that_it_is_used_up():
    content = json.loads(
        hornlens(
            "learn",
            PRONOUNS,
            "--equivalence",
            "budget",
            "--max-equivalence-queries",
            "2",
            "--format",
            "json",
        ).stdout
    )
    assert content["certificate"] == {
        "kind": "budget_exhausted",
        "weakest": "open",
        "complete": {},
        "scope": {"of": "cells"},
        "rules": 2,
        "ended": {"reason": "max_equivalence_queries", "after": 2},
    }
    assert [line["warrant"] for line in content["rules"]] == [{"kind": "open"}] * 2
    assert content["statistics"]["equivalence_queries"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["envelope", "missing.cnf"], "missing.cnf: no such file"),
        (["envelope", "missing"], "missing: no such file"),
        (["envelope", "."], "is a directory, not a file"),
        (["envelope", "bad.cnf"], "bad.cnf:2: literal 9 is out of range"),
        (["envelope", "bad.csv", "--scale", "a=binary"], "column 'a': 'yes' is neither 0 nor 1"),
        (["envelope", "latin.csv"], "latin.csv:1: is not UTF-8 text"),
        (["envelope", "binary.cxt"], "binary.cxt:1: is a binary file"),
        (["envelope", "empty.cnf"], "empty.cnf: is empty"),
        (["envelope", "other.txt"], "other.txt: unknown kind of file; expected .cnf, .csv"),
        (["envelope", "good.cnf", "--format", "xml"], "'xml'"),
        (["envelope", "good.cnf", "--background", "bad.cnf"], "bad.cnf:2: literal 9"),
        (["envelope", "good.csv", "--background", "strict.cnf"], "good.csv: the row in line 2"),
        (["envelope"], "Missing argument"),
        (["no-such-command"], "no-such-command"),
        (["learn", "good.cnf", "--epsilon", "2"], "--epsilon must lie between 1e-09 and 1"),
        (["learn", "good.cnf", "--delta", "1e-300"], "--delta must lie between 1e-09"),
        (["learn", "good.cnf", "--seed", "x"], "--seed"),
        (["learn", "good.cnf", "--algorithm", "horn", "--goal", "envelope"], "--goal cnf"),
        (["learn", "good.cnf", "--via-encoding", "--goal", "envelope"], "--via-encoding needs"),
        (["learn", "good.cnf", "--via-encoding", "--equivalence", "pac"], "--via-encoding works"),
        (["learn", "good.csv"], "good.csv:1: expected the header"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, arguments, message):
    (tmp_path / "good.cnf").write_text("p cnf 2 1\n1 -2 0\n")
    (tmp_path / "good.csv").write_text("a,b\n1,1\n")
    (tmp_path / "strict.cnf").write_text("c var 1 a\np cnf 1 1\n-1 0\n")
    (tmp_path / "bad.cnf").write_text("p cnf 2 1\n1 9 0\n")
    (tmp_path / "bad.csv").write_text("a,b\nyes,0\n")
    (tmp_path / "latin.csv").write_bytes("é,b\n1,0\n".encode("latin-1"))
    (tmp_path / "binary.cxt").write_bytes(b"B\0\1\2")
    (tmp_path / "empty.cnf").write_bytes(b"")
    (tmp_path / "other.txt").write_text("hello")
    shown = hornlens(*arguments, cwd=tmp_path)
    assert shown.returncode == 2, shown
    assert shown.stdout == ""
    assert message in shown.stderr
    assert shown.stderr.startswith("hornlens: ") and shown.stderr.count("\n") == 1


def test_debug_shows_the_traceback():
    shown = hornlens("envelope", "missing.cnf", "--debug")
    assert shown.returncode == 2 and "Traceback" in shown.stderr


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_an_unforeseen_error_has_an_exit_code_of_its_own(tmp_path, debug):
    (tmp_path / "hit.py").write_text(
        "import hornlens.cli.envelope\n"
        "def fail(*_, **__):\n    raise KeyError('a line\\nand another')\n"
        "hornlens.cli.envelope.envelope_command = fail\n"
        "from hornlens.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "hit", "envelope", "some.cnf", *debug],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (3, "")
    if debug:
        assert "KeyError" in done.stderr and "Traceback" in done.stderr
        return
    assert done.stderr.startswith("hornlens: an error of hornlens itself: KeyError: ")
    assert done.stderr.count("\n") == 1
    (written,) = tmp_path.glob("hornlens-*.txt")
    assert str(written) in done.stderr
    text = written.read_text(encoding="utf-8")
    assert text.startswith("hornlens envelope some.cnf\n") and "Traceback" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["envelope", PRONOUNS, "--format", "json"],
        ["learn", PRONOUNS, "--seed", "5", "--trace", "--goal", "cnf"],
        ["learn", PRONOUNS, "--seed", "5", "--equivalence", "pac", "--format", "json"],
        ["learn", PRONOUNS, "--seed", "5", "--algorithm", "envelope", "--speculate"],
    ],
)
def test_the_same_seed_gives_the_same_bytes_whatever_the_hash_seed(arguments):
    outputs = {
        hornlens(*arguments, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1 and outputs != {""}


def test_a_terminal_gets_tables_and_a_pipe_gets_plain_text():
    plain = hornlens("envelope", PRONOUNS).stdout
    assert "┃" not in plain and "\x1b" not in plain
    assert "┃" in on_a_terminal("envelope", PRONOUNS)
    quiet = on_a_terminal("envelope", PRONOUNS, "--quiet", "--format", "json")
    assert json.loads(quiet)["certificate"]["kind"] == "exact"


def on_a_terminal(*arguments):
    """Run with a pseudo-terminal for all streams; return what appears on it."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*START, *map(str, arguments)],
        stdout=terminal,
        stderr=terminal,
        stdin=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(terminal)
    shown = b""
    while select.select([controller], [], [], 20)[0]:
        try:
            part = os.read(controller, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(controller)
    return shown.decode()


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m hornlens envelope {PRONOUNS} -q --format json | head -c 5"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert shown.stdout == '{\n "h' and shown.stderr == ""


def test_probes_on_the_command_line(tmp_path):
    assert "gender-occupation" in hornlens("probe", "list").stdout
    shown = hornlens("probe", "show").stdout
    assert "26 variables, 1,980 interpretations, 660 prompts" in shown
    mine = tmp_path / "mine.yaml"
    assert hornlens("probe", "new", mine).returncode == 0
    assert "name: mine" in mine.read_text()
    assert "a good probe, 660 prompts" in hornlens("probe", "validate", mine).stdout
    refused = hornlens("probe", "new", mine)
    assert refused.returncode == 2 and "exists already" in refused.stderr
    mine.write_text(mine.read_text().replace("{period}", "{oops}"))
    refused = hornlens("probe", "validate", mine)
    assert refused.returncode == 2 and "mine.yaml:8: templates[1]: unknown slot" in refused.stderr
    mine.write_text(
        mine.read_text()
        .replace("{oops}", "{period}")
        .replace("text: between 1925 and 1951", "text: then")
    )
    assert hornlens("probe", "validate", mine).returncode == 0


def test_the_probes_of_the_docs_are_good_ones(tmp_path):
    page = (EXAMPLES.parent / "docs" / "your-own-probe.md").read_text()
    _, *files = page.split("```yaml\n")
    path = tmp_path / "money.yaml"
    for file, sentence in zip(files, ("[MASK]", "Eine Pflegekraft ist meistens"), strict=True):
        path.write_text(file.split("```")[0])
        assert "a good probe, 9 prompts" in hornlens("probe", "validate", path).stdout
        assert sentence in hornlens("probe", "show", path).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "nope"], "nor a built-in probe"),
        (["extract", "--model", "nope"], "unknown model 'nope'"),
        (["extract", "--model", "table/nope.csv"], "no such file"),
        (["extract", "--epsilon", "0"], "--epsilon must lie between 1e-09 and 1"),
        (["extract", "--batch-size", "0"], "--batch-size must be auto or a number"),
        (["extract", "--batch-size", "x"], "--batch-size must be auto or a number"),
        (["extract", "--equivalence", "exhaustive", "--limit", "10"], "more than --limit 10"),
        (["cache", "prune"], "say what to remove"),
    ],
)
def test_bad_extractions_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    env = {**os.environ, "HORNLENS_CACHE": str(tmp_path / "c.sqlite")}
    shown = hornlens(*arguments, cwd=tmp_path, env=env)
    assert shown.returncode == 2, shown
    assert message in shown.stderr and shown.stderr.count("\n") == 1 and shown.stdout == ""
    assert not (tmp_path / "hornlens-out").exists()


def test_seeds_matter_also_through_the_encoding():
    runs = {
        hornlens("learn", PRONOUNS, "--via-encoding", "--seed", seed, "--trace").stdout
        for seed in (1, 2, 3)
    }
    assert len(runs) == 3


def test_the_trace_is_part_of_the_json():
    content = json.loads(hornlens("learn", APPENDIX, "--trace", "--format", "json").stdout)
    assert content["trace"][-1].endswith("Yes.")


def test_a_stream_that_is_not_utf_8_gets_utf_8_all_the_same():
    shown = subprocess.run(
        [*START, "envelope", PRONOUNS],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert shown.returncode == 0 and "nurse ∧ he → ⊥" in shown.stdout.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    command = f"{sys.executable} -m hornlens envelope {PRONOUNS} -q --format json > /dev/full"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert shown.returncode == 2
    assert shown.stderr == "hornlens: no space left on device\n"


def test_names_on_a_terminal_are_not_markup(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a:cat:b,[bold]x,y\\\n1,1,0\n0,1,1\n")
    shown = on_a_terminal("envelope", path, "--quiet")
    assert "[bold]x" in shown
    path.write_text("a:cat:b,c\n1,1\n0,1\n0,0\n")
    assert "a:cat:b → c" in on_a_terminal("envelope", path, "--quiet")


def test_without_arguments_there_is_help():
    shown = hornlens()
    assert shown.returncode == 0 and "envelope" in shown.stdout and shown.stderr == ""
    group = hornlens("probe")
    assert "validate" in group.stdout + group.stderr


PRINTED = "import sys; sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)"
"""What C code does that prints an error and goes on."""


@pytest.mark.parametrize(
    "how",
    [
        "raise KeyboardInterrupt",
        "exec('raise KeyboardInterrupt')",  # as dataclasses do, in the midst of an import
        "raise ImportError('initialization failed') from KeyboardInterrupt()",  # as pybind11 does
        f"{PRINTED}; raise ImportError('multiarray failed to import')",  # as numpy does
    ],
)
def test_an_interrupt_is_one_line_and_exit_code_130_wherever_it_comes(tmp_path, how):
    (tmp_path / "hit.py").write_text(
        f"def score(self, prompts, candidates):\n    {how}\n"
        "from hornlens.__main__ import main\n"
        "from hornlens.models.demo import DemoModel\n"
        "DemoModel.score = score\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "hit", "extract", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (130, "hornlens: interrupted\n")


@pytest.mark.parametrize("stream", [1, 2])
@pytest.mark.parametrize(
    "arguments", [["--version"], ["probe", "list"], ["extract", "--no-cache", "-q"]]
)
def test_closed_streams_are_no_error(tmp_path, arguments, stream):
    command = [*START, *arguments]
    shell = f'exec "$@" {stream}>&-'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (stream == 2)


LIBRARY = "import sys, hornlens; hornlens.extract(cache=False)"


@pytest.mark.parametrize(
    ("how", "kept"),
    [
        (["-m", "hornlens", "extract", "--no-cache", "--out"], ["hornlens", "hornlens/templates"]),
        (["-c", LIBRARY], []),
    ],
)
def test_nothing_is_kept_or_told_that_nobody_asked_for(tmp_path, how, kept):
    """The runtime of the built-in model has telemetry, which begins with files in the cache."""
    cache = tmp_path / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    for name in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
        environment.pop(name, None)
    subprocess.run(
        [sys.executable, *how, str(tmp_path / "out")],
        check=True,
        capture_output=True,
        env=environment,
    )
    assert [str(p.relative_to(cache)) for p in sorted(cache.rglob("*"))][:2] == kept
    assert not cache.exists() or not [p for p in cache.iterdir() if p.name != "hornlens"]


HIT = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
RUN = "runpy.run_module('hornlens', run_name='__main__')"


def test_an_interrupt_before_there_is_anything_to_lose_ends_it_at_once(tmp_path):
    (tmp_path / "typer.py").write_text(f"{HIT}\nimport time; time.sleep(9)\n")
    done = subprocess.run(
        [*START, "extract"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        # Where the tests run in the background of a shell, it would be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "hornlens: interrupted\n")


def test_an_interrupt_when_all_is_done_changes_nothing(tmp_path):
    (tmp_path / "late.py").write_text(
        "import atexit\n"
        "from hornlens.__main__ import main\n"
        "@atexit.register\n"
        "def hit():\n"
        f"    {HIT}\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "late", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hornlens {__version__}\n", "")


def test_an_interrupt_that_is_ignored_stays_ignored(tmp_path):
    """As in `nohup`, and in what a script puts in the background."""
    (tmp_path / "typer.py").write_text(f"{HIT}\nraise SystemExit(7)\n")
    command = f"import signal, runpy; signal.signal(signal.SIGINT, signal.SIG_IGN); {RUN}"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (7, "")


def test_bounded_envelopes_are_complete_up_to_their_length_and_verified(tmp_path):
    whole = json.loads(hornlens("envelope", APPENDIX, "--format", "json").stdout)
    done = hornlens("envelope", APPENDIX, "--max-conditions", 2, "--format", "json")
    content = json.loads(done.stdout)
    rules = len(content["rules"])
    assert content["certificate"] == {
        "kind": "bounded",
        "weakest": "proved",
        "complete": {"max_conditions": 2},
        "scope": {"of": "cells"},
        "rules": rules,
    }
    assert all(len(line["if"]) <= 2 for line in content["readable"])
    assert 0 < rules <= len(whole["rules"])
    (tmp_path / "short.json").write_text(done.stdout)
    verified = hornlens("verify", tmp_path / "short.json", "--against", APPENDIX)
    assert verified.returncode == 0 and "bounded" in verified.stdout, verified.stderr
    del content["rules"][-1], content["readable"][-1]
    for claimed in (rules, rules - 1):
        content["certificate"]["rules"] = claimed
        (tmp_path / "short.json").write_text(json.dumps(content))
        refused = hornlens("verify", tmp_path / "short.json", "--against", APPENDIX)
        assert refused.returncode == 1, claimed


def test_rows_enough_for_a_rule(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b,c\n1,1,0\n1,1,0\n0,0,1\n")
    arguments = ("envelope", table, "--max-conditions", 1, "--format", "json")
    found = json.loads(hornlens(*arguments, "--min-support", 2).stdout)
    assert [(line["if"], line["then"]) for line in found["readable"]] == [
        (["a"], ["b"]),
        (["b"], ["a"]),
    ]
    assert found["certificate"]["complete"] == {"max_conditions": 1, "min_support": 2}
    assert found["statistics"]["rare_conditions_left_out"] == 1
    (tmp_path / "r.json").write_text(json.dumps(found))
    assert hornlens("verify", tmp_path / "r.json", "--against", table).returncode == 0


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("envelope", PRONOUNS, "--min-support", 2), "--min-support is for tables"),
        (("envelope", PRONOUNS, "--max-conditions", 1, "--min-support", 2), "is for tables"),
    ],
)
def test_bounds_that_cannot_be_kept_are_refused_in_a_line(arguments, said, tmp_path):
    done = hornlens(*arguments)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        (("--equivalence", "pac", "--epsilon", 0.5, "--delta", 0.5), "pac"),
        (("--equivalence", "budget", "--max-equivalence-queries", 20), "budget_exhausted"),
        (("--limit", 100), "sifted"),
        (("--max-questions", 400), "interrupted"),
        (("--max-rules", 3), "interrupted"),
    ],
)
def test_short_rules_are_combined_with_every_way_of_asking(how, kind, tmp_path):
    """Each was refused. What is listed is short, and follows from all answers there are."""
    whole = json.loads(extracted(tmp_path).stdout)
    true = {rule_of(line) for line in whole["readable"]}
    assert len(true) == 57 and max(len(left) for left, _ in true) == 4
    done = extracted(tmp_path, "--max-conditions", 2, *how)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["certificate"]["kind"] == kind
    assert all(len(line["if"]) <= 2 for line in [*found["readable"], *found.get("open", [])])
    sure = {rule_of(line) for line in found["readable"] if line["warrant"]["kind"] == "proved"}
    for left, right in sure:
        assert any(set(short) <= set(left) and then == right for short, then in true), (left, right)
    verified = hornlens("verify", tmp_path / "out")
    assert verified.returncode == 0, verified.stdout


def extracted(folder, *arguments):
    env = {**os.environ, "HORNLENS_CACHE": str(folder / "c.sqlite")}
    return hornlens("extract", "--out", folder / "out", "--format", "json", *arguments, env=env)


def rule_of(line):
    return tuple(line["if"]), None if line["then"] is None else tuple(line["then"])
