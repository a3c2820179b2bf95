"""`hornlens study`: plans, its tables against a direct computation, kills, the paper's tables."""

import csv
import json
import multiprocessing
import os
import random
import signal
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from hornlens.api import extract
from hornlens.errors import HornlensError, InputError
from hornlens.executors.local import LocalExecutor
from hornlens.logic.named import NamedRule
from hornlens.models.protocol import ModelOptions
from hornlens.probes.loading import load_probe
from hornlens.pronouns.published import (
    is_the_papers,
    load_tables,
    published_for,
    published_intersection,
    published_minutes,
    published_rules,
)
from hornlens.report.study_tables import study_tables
from hornlens.report.tables import Table, in_markdown, rule_text
from hornlens.results.documents.envelope import envelope_from_json
from hornlens.store.sqlite import AnswerCache
from hornlens.studies.documents import STUDY
from hornlens.studies.plan import builtin_names, load_plan, parse_plan
from hornlens.studies.runs import run_study
from hornlens.studies.summary import summarise, times_of
from tests.command import START, hornlens

ROOT = Path(__file__).parents[2]
PAPER = load_probe("gender-occupation")
SMALL = """
hornlens: 1
name: small
models: [demo, demo-balanced]
budgets: [5, 40]
runs: 3
samples: 400
policy: {margin: 0.02}
"""


def named(line):
    """A line of JSON as a rule."""
    then = line["then"]
    return NamedRule(tuple(line["if"]), None if then is None else tuple(then))


def command(folder: Path, *more) -> list[str]:
    return [
        *("study", *map(str, more)),
        *("--out", str(folder / "out"), "--cache", str(folder / "c.sqlite")),
    ]


def deterministic(folder: Path) -> dict[str, bytes]:
    """Return all files that must not depend on how a study was run."""
    names = {"run.json", "times.json", "times.md", "times.tex", "times.csv"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in names and path.name != "report.html"
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The built-in study, run by the command, with all there is to it."""
    folder = tmp_path_factory.mktemp("demo")
    shown = hornlens(*command(folder, "demo", "--jobs", 2))
    assert shown.returncode == 0, shown.stderr
    return folder, shown


# Plans.


def test_the_built_in_studies_are_there():
    assert builtin_names() == ["demo", "paper"]
    paper = load_plan("paper")
    assert (paper.budgets, len(paper.seeds), paper.stable) == ((50, 100, 200), 10, 7)
    assert paper.settings.samples == 3132 and paper.policy.label_unset == "reject"
    assert [spec.rpartition("/")[2] for spec in paper.models] == [
        *("bert-base-cased", "bert-large-cased", "roberta-base", "roberta-large")
    ]
    assert load_plan("demo").policy.margin == 0.02


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("runs: 3", "", "p.yaml:1: runs: say either how many runs, or which seeds"),
        ("runs: 3", "runs: 3\nseeds: [1]", "say either how many runs"),
        ("runs: 3", "runs: 0", "p.yaml:5: runs: input should be greater than or equal to 1"),
        ("runs: 3", "seeds: [1, 2, 1]", "p.yaml:5: seeds: 1 stands twice"),
        ("runs: 3", "runs: 3\nstable: 4", "stable: there are only 3 runs"),
        ("[5, 40]", "[5, 5]", "p.yaml:4: budgets: 5 stands twice"),
        ("[5, 40]", "[]", "needs at least 1"),
        ("[demo, demo-balanced]", "[demo, demo]", "models: 'demo' stands twice"),
        ("margin: 0.02", "margins: 2", "policy.margins: there is no such field"),
        ("samples: 400", "samples: 400\nprotocol: paper", "the paper's protocol fixes the samples"),
        ("name: small", "name: small\nprobe: no-such.yaml", "no-such.yaml"),
    ],
)
def test_a_bad_plan_is_refused_with_line_and_field(old, new, message):
    with pytest.raises(HornlensError) as raised:
        parse_plan(SMALL.strip().replace(old, new), "p.yaml")
    assert message in str(raised.value), str(raised.value)


def test_what_a_plan_leaves_open(tmp_path):
    plan = parse_plan(SMALL)
    assert plan.seeds == (0, 1, 2) and plan.stable == 3 and plan.enumerable
    assert parse_plan(SMALL.replace("runs: 3", "seeds: [7, 2]")).seeds == (7, 2)
    assert not parse_plan(SMALL + "limit: 659\n").enumerable
    text = (ROOT / "src/hornlens/probes/builtin/sentiment.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("name: sentiment", "name: mine", 1))
    (tmp_path / "study.yaml").write_text(SMALL + "probe: mine.yaml\n")
    assert load_plan(tmp_path / "study.yaml").probe.name == "mine"  # beside the study's file
    with pytest.raises(InputError, match="nor a built-in study"):
        load_plan("nothing")
    with pytest.raises(HornlensError, match="given twice"):
        plan.with_models(("demo", "demo"))


# The demo study, and its tables against a direct computation.


def labelled_grid():
    """Return all interpretations of the paper's probe that have a label, as sets of names."""
    names = PAPER.vocabulary
    return [frozenset(names.names_of(x)) for x in PAPER.space if x & PAPER.space.label_mask]


def breaks(rule: dict, x: frozenset) -> bool:
    """Say whether an interpretation breaks a rule, straight from what a rule means."""
    return set(rule["if"]) <= x and (rule["then"] is None or not set(rule["then"]) <= x)


def learned(path):
    """Return the rules that a run's learner took for true, in their short form: a study's subject.

    A run lists only what is proved by its answers.
    """
    named_rules = envelope_from_json(json.loads(path.read_text()), path).learned.named
    return [short.as_json() for short, _ in named_rules]


def test_the_demo_study_says_what_it_found(demo):
    folder, shown = demo
    assert shown.stderr == ""
    assert "demo: 63 rules, exactly; 660 prompts asked for it." in shown.stdout
    assert "demo-balanced: 0 rules, exactly" in shown.stdout
    assert "demo, budget 50: 7 rules found in 7 of 10 runs or more." in shown.stdout
    names = {path.name for path in (folder / "out").iterdir()}
    assert {"study.json", "study.md", "tables", "runs", "exact", "times.md"} <= names
    assert {"recall-precision.svg", "recall-precision.png"} <= names
    assert (folder / "out/exact/demo/report.html").exists()


def test_every_run_is_what_extract_gives(demo):
    folder, _ = demo
    plan = load_plan("demo")
    with _cache(folder) as cache:
        for model, budget, seed in [("demo", 50, 3), ("demo", 200, 9), ("demo-balanced", 100, 0)]:
            done = extract(
                model,
                plan.probe,
                settings=plan.run(budget, seed),
                policy=plan.policy,
                cache=cache,
            )
            path = folder / f"out/runs/{model}/budget-{budget}/seed-{seed}/envelope.json"
            content = json.loads(path.read_text())
            names = done.space.vocabulary
            listed = [(r["if"], r["then"]) for r in content["readable"]]
            assert listed == [
                (
                    list(names.names_of(rule.antecedent)),
                    None if rule.is_negative else list(names.names_of(rule.new)),
                )
                for rule in done.envelope.readable
            ]
            assert content["statistics"] == done.envelope.statistics
            learned = [full.as_json() for _, full in done.envelope.learned.named]
            assert content["hypothesis"]["rules"] == learned and bool(learned) == (model == "demo")


def _cache(folder):
    return closing(AnswerCache(folder / "c.sqlite"))


def test_the_demo_studys_tables_equal_a_direct_computation(demo):
    folder, _ = demo
    out = folder / "out"
    grid = labelled_grid()
    exact = json.loads((out / "exact/demo/envelope.json").read_text())["readable"]
    accepted = [x for x in grid if not any(breaks(rule, x) for rule in exact)]
    tables = {path.stem: read(path) for path in (out / "tables").glob("*.csv")}
    for budget in (50, 100, 200, 400):
        paths = [out / f"runs/demo/budget-{budget}/seed-{seed}/envelope.json" for seed in range(10)]
        runs = [learned(path) for path in paths]
        admitted = [[x for x in grid if not any(breaks(rule, x) for rule in run)] for run in runs]
        found: dict[str, int] = {}
        rules = {}
        for run in runs:
            for rule in run:
                text = rule_text(named(rule))
                found[text] = found.get(text, 0) + 1
                rules[text] = rule
        expected = {
            text: (
                count,
                sum(not any(breaks(rules[text], x) for x in models) for models in admitted),
                "no" if any(breaks(rules[text], x) for x in accepted) else "yes",
            )
            for text, count in found.items()
            if count >= 7
        }
        table = [row for row in tables[f"stable-rules-{budget}"] if row["model"] == "demo"]
        assert {
            row["rule"]: (
                *(int(row["runs that found it"]), int(row["runs that entail it"])),
                row["true"],
            )
            for row in table
        } == expected
        recalls, precisions, agreements = [], [], []
        for run, models in zip(runs, admitted, strict=True):
            known = [not any(breaks(rule, x) for x in models) for rule in exact]
            true = [not any(breaks(r, x) for x in accepted) for r in run]
            recalls.append(sum(known) / len(known))
            precisions.append(sum(true) / len(true))
            same = set(models) ^ set(accepted)
            agreements.append(1 - len(same) / len(grid))
        [row] = [
            row
            for row in tables["recall-precision"]
            if (row["model"], row["budget"]) == ("demo", str(budget))
        ]
        for name, values in (("recall", recalls), ("precision", precisions)):
            assert float(row[name]) == pytest.approx(sum(values) / 10)
            assert float(row[f"{name} min"]) == pytest.approx(min(values))
            assert float(row[f"{name} max"]) == pytest.approx(max(values))
        assert float(row["agreement"]) == pytest.approx(sum(agreements) / 10)
        [row] = [
            row
            for row in tables["queries"]
            if (row["model"], row["budget"]) == ("demo", str(budget))
        ]
        contents = [json.loads(path.read_text()) for path in paths]
        queries = [content["statistics"]["equivalence_queries"] for content in contents]
        assert float(row["equivalence queries"]) == pytest.approx(sum(queries) / 10)
        ends = [content["hypothesis"]["certificate"]["kind"] for content in contents]
        cut = [kind == "budget_exhausted" for kind in ends]
        assert int(row["runs cut off"]) == sum(cut)
    assert tables["intersection"] == []  # the balanced model has no rules
    entailed = {row["rule"]: int(row["400"]) for row in tables["exact-demo"]}
    assert len(entailed) == 63 and entailed["nurse ∧ male → ⊥"] == 10


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(path.read_text())))


def test_the_same_tables_in_every_format(demo):
    out = demo[0] / "out"
    page = (out / "study.md").read_text()
    for table in study_tables(STUDY.read(out / "study.json")):
        for suffix, text in (
            (".md", table.markdown()),
            (".tex", table.latex()),
            (".csv", table.csv()),
        ):
            assert (out / "tables" / f"{table.name}{suffix}").read_text() == text
        assert table.markdown() in page
    assert "nurse ∧ male → ⊥" in page
    assert (
        r"\text{nurse} \land \text{male} \to \bot"
        in (out / "tables/stable-rules-50.tex").read_text()
    )


def test_a_second_time_nothing_is_repeated(demo):
    folder, shown = demo
    before = deterministic(folder / "out")
    runs = sorted((folder / "out").rglob("run.json"))
    times = [path.stat().st_mtime_ns for path in runs if "exact" not in path.parts]
    again = hornlens(*command(folder, "demo"))
    assert again.returncode == 0, again.stderr
    assert again.stdout == shown.stdout
    assert deterministic(folder / "out") == before
    assert times == [path.stat().st_mtime_ns for path in runs if "exact" not in path.parts]
    kept = json.loads((folder / "out/times.json").read_text())
    assert kept["models"][0]["exact"]["asked_the_model"] == 660  # from the first time


def test_the_documentation_says_what_the_demo_study_shows(demo):
    content = json.loads((demo[0] / "out/study.json").read_text())
    page = (ROOT / "docs/studies.md").read_text()
    for part in content["models"][0]["budgets"]:
        stable = [rule for rule in part["rules"] if rule["found"] >= 7]
        recall, precision = part["mean"]["recall"], part["mean"]["precision"]
        true = sum(rule["true"] for rule in stable)
        row = f"| {part['budget']} | {recall:.2f} | {precision:.2f} | {len(stable)} | {true} |"
        assert row in page, row


# Kills, processes, and everything else that must not matter.


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small study, run undisturbed in one process."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.yaml").write_text(SMALL)
    shown = hornlens(*command(folder, folder / "small.yaml", "--jobs", 1, "--format", "json"))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == (folder / "out/study.json").read_text()
    return folder


@pytest.mark.slow
def test_killed_at_random_points_a_study_ends_with_the_same_bytes(small, tmp_path):
    rng = random.Random(11)
    kills = 0
    for attempt in range(40):
        process = subprocess.Popen(
            [*START, *command(tmp_path, small / "small.yaml", "--jobs", 2, "--batch-size", 8)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONHASHSEED": str(attempt)},
        )
        try:
            process.wait(timeout=0.6 + attempt * 0.4 * rng.random())
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            assert_gone(process.pid)
            continue
        assert process.returncode == 0, process.stderr.read().decode()
        break
    else:
        pytest.fail("it never came to an end")
    assert kills > 0
    assert deterministic(tmp_path / "out") == deterministic(small / "out")


def assert_gone(group: int) -> None:
    """Workers end with their parent, even if it is killed."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("worker processes were left behind")


def test_what_changes_a_run_repeats_it(small, tmp_path):
    plan = parse_plan(SMALL.replace("[demo, demo-balanced]", "[demo]"))
    with _cache(tmp_path) as cache:
        first = run_study(plan, tmp_path / "out", cache)
        other = parse_plan(SMALL.replace("[demo, demo-balanced]", "[demo]").replace("0.02", "0.5"))
        second = run_study(other, tmp_path / "out", cache)
        third = run_study(plan, tmp_path / "out", cache)
    assert [r.envelope for r in first[0].runs] != [r.envelope for r in second[0].runs]
    assert [r.envelope for r in first[0].runs] == [r.envelope for r in third[0].runs]
    # A run whose files are damaged is run again.
    path = tmp_path / "out" / third[0].runs[0].folder / "run.json"
    path.write_text("{")
    with _cache(tmp_path) as cache:
        again = run_study(plan, tmp_path / "out", cache)[0].runs[0]
    assert again.envelope == first[0].runs[0].envelope


def test_a_question_space_too_large_to_enumerate_has_runs_only(tmp_path):
    plan = parse_plan(SMALL.replace("[demo, demo-balanced]", "[demo]") + "limit: 100\n")
    asked = []
    with _cache(tmp_path) as cache:
        found = run_study(plan, tmp_path / "out", cache, on_prompts=asked.append)
    study = summarise(plan, found)
    content = STUDY.as_json(study)
    assert content["models"][0]["exact"] is None
    assert "mean" not in content["models"][0]["budgets"][0]
    assert all(r["true"] is None for b in content["models"][0]["budgets"] for r in b["rules"])
    names = [table.name for table in study_tables(study)]
    assert names == ["queries", "stable-rules-5", "stable-rules-40"]
    assert sum(asked) > 0
    assert times_of(plan, found).models[0].exact is None


def test_tables_of_an_earlier_plan_do_not_stay_but_everything_else_does(tmp_path):
    (tmp_path / "out/tables/folder").mkdir(parents=True)
    (tmp_path / "out/tables/thesis.tex").write_text("mine")
    for budgets in ("[5, 40]", "[7]"):
        (tmp_path / "s.yaml").write_text(SMALL.replace("[5, 40]", budgets))
        shown = hornlens(*command(tmp_path, tmp_path / "s.yaml", "--jobs", 1, "--model", "demo"))
        assert shown.returncode == 0, shown.stderr
    names = {path.stem for path in (tmp_path / "out/tables").iterdir()}
    ours = {"recall-precision", "queries", "stable-rules-7", "exact-demo"}
    assert names == {*ours, "thesis", "folder"}


def test_an_error_in_a_worker_is_one_line_and_keeps_what_is_done(tmp_path):
    (tmp_path / "scores.csv").write_text("prompt,She,He\nnothing,0,0\n")
    text = SMALL.replace("[demo, demo-balanced]", f"[demo, table/{tmp_path / 'scores.csv'}]")
    (tmp_path / "s.yaml").write_text(text + "limit: 10\n")
    shown = hornlens(*command(tmp_path, tmp_path / "s.yaml", "--jobs", 2))
    assert shown.returncode == 2 and shown.stdout == ""
    assert shown.stderr.startswith("hornlens: ") and shown.stderr.count("\n") == 1
    assert not (tmp_path / "out" / "study.json").exists()


def _sleep(seconds):
    time.sleep(seconds)


def test_what_ends_a_study_leaves_other_processes_of_the_program_alone(tmp_path):
    (tmp_path / "scores.csv").write_text("prompt,She,He\nnothing,0,0\n")
    models = f"[demo, table/{tmp_path / 'scores.csv'}]"
    plan = parse_plan(SMALL.replace("[demo, demo-balanced]", models) + "limit: 10\n")
    mine = multiprocessing.get_context("spawn").Process(target=_sleep, args=(60,), daemon=True)
    mine.start()
    try:
        with _cache(tmp_path) as cache, pytest.raises(HornlensError):
            run_study(plan, tmp_path / "out", cache, executor=LocalExecutor(2))
        assert multiprocessing.active_children() == [mine]
    finally:
        mine.terminate()
        mine.join()


def test_a_model_that_cannot_be_had_stops_a_study_before_anything_is_asked(tmp_path):
    shown = hornlens(
        *command(tmp_path, "demo", "--model", "demo", "--model", f"hf/{tmp_path}/no-model")
    )
    assert shown.returncode == 2 and "no-model" in shown.stderr
    assert not (tmp_path / "out").exists()
    with _cache(tmp_path) as cache:
        assert cache.models() == []


def test_a_study_of_few_runs_ends_without_a_word(tmp_path):
    """The workers may not have started all when the work is done."""
    (tmp_path / "s.yaml").write_text(SMALL.replace("[5, 40]", "[1]").replace("runs: 3", "runs: 2"))
    shown = hornlens(*command(tmp_path, tmp_path / "s.yaml", "--model", "demo", "--jobs", 2))
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("whole_group", [True, False])
def test_an_interrupt_ends_a_study_at_once_and_quietly(tmp_path, whole_group):
    rng = random.Random(3)
    interrupted = 0
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        process = subprocess.Popen(
            [*START, *command(folder, "demo", "--jobs", 2, "--quiet")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        time.sleep(1.0 + 2.5 * rng.random())
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert_gone(process.pid)
        if process.returncode == 0:
            continue  # it was quicker
        assert (process.returncode, errors) == (130, "hornlens: interrupted\n")
        interrupted += 1
    assert interrupted > 0


def test_a_study_tells_of_each_prompt_once(tmp_path):
    prompts, runs = [], []
    with _cache(tmp_path) as cache:
        run_study(
            parse_plan(SMALL),
            tmp_path / "out",
            cache,
            on_prompts=prompts.append,
            on_runs=runs.append,
        )
    assert (sum(prompts), sum(runs)) == (2 * 660, 2 * 2 * 3)


def test_the_same_model_twice_is_refused_however_it_is_spelled(tmp_path):
    text = "prompt,She,He\n" + "".join(
        f"{p},0,-1\n" for cell in PAPER.space.cells() for p in PAPER.render(cell)
    )
    (tmp_path / "a.csv").write_text(text)
    specs = (f"table/{tmp_path}/a.csv", f"table/{tmp_path}/./a.csv")
    with _cache(tmp_path) as cache, pytest.raises(HornlensError, match="are the same model"):
        run_study(parse_plan(SMALL).with_models(specs), tmp_path / "out", cache)


def test_recall_counts_what_says_something_of_its_own(tmp_path):
    """Under the paper's policy `nurse → female` comes beside what follows from it for any label."""
    text = SMALL.replace("samples: 400", "protocol: paper").replace("policy: {margin: 0.02}", "")
    plan = parse_plan(text.replace("[demo, demo-balanced]", "[demo]"))
    with _cache(tmp_path) as cache:
        content = STUDY.as_json(summarise(plan, run_study(plan, tmp_path / "out", cache)))
    exact = content["models"][0]["exact"]
    assert (len(exact["rules"]), exact["to_find"]) == (86, 57)
    grid = labelled_grid()
    # Two thirds of the rules admit the very same interpretations: the rest is said already.
    broken = [{x for x in grid if breaks(rule, x)} for rule in exact["rules"]]
    needed = list(broken)
    for own in reversed(broken):
        others = [each for each in needed if each is not own]
        if own <= set().union(*others):
            needed = others
    assert len(needed) == 57 and set().union(*needed) == set().union(*broken)
    for run in content["models"][0]["budgets"][1]["runs"]:
        rules = learned(tmp_path / "out" / run["folder"] / "envelope.json")
        refused = [{x for x in grid if breaks(rule, x)} for rule in rules]
        known = [own <= set().union(*refused) for own in needed]
        true = [own <= set().union(*broken) for own in refused]
        assert run["recall"] == pytest.approx(sum(known) / len(known))
        assert run["precision"] == pytest.approx(sum(true) / len(true))


def test_folders_of_models_never_collide(tmp_path):
    scores = "prompt,She,He\n" + "".join(
        f"{prompt},{-(i % 3)},-1\n"
        for i, prompt in enumerate(p for cell in PAPER.space.cells() for p in PAPER.render(cell))
    )
    names = ("a b.csv", "a?b.csv", "c" * 240 + ".csv", "d" + "c" * 239 + ".csv")
    for i, name in enumerate(names):
        (tmp_path / name).write_text(scores + f"another,{i},0\n")
    specs = tuple(f"table/{tmp_path / name}" for name in names)
    plan = parse_plan(SMALL).with_models(specs)
    with _cache(tmp_path) as cache:
        found = run_study(plan, tmp_path / "out", cache)
    assert len({each.folder for each in found}) == 4
    assert max(len(each.folder) for each in found) < 120


# Tables in general.


def test_nothing_in_a_table_is_taken_for_markup():
    rule = NamedRule(("a|b", "</script>"), ("x_y & 50%",))
    table = Table("t", "A <b> | title", ("col|umn",), ((rule,), (None,), ("*x*",)))
    text = table.markdown()
    assert "\\|" in text and "<" not in text.replace("\\<", "")
    assert all(line.count("|") - line.count("\\|") == 2 for line in text.splitlines()[2:])
    assert r"\text{x\_y \& 50\%}" in table.latex()
    assert list(csv.reader(StringIO(table.csv()))) == [
        *(["col|umn"], ["a|b ∧ </script> → x_y & 50%"], [""], ["*x*"])
    ]
    assert "none" in Table("t", "empty", ("a", "b"), ()).markdown()
    assert "none" in Table("t", "empty", ("a", "b"), ()).latex()
    assert in_markdown("T", "", [table]).startswith("# T\n")


# The paper's tables.


def test_the_papers_tables_are_kept_as_data_and_all_its_rules_can_be_read():
    package = ROOT / "src/hornlens/pronouns/builtin/paper_tables.json"
    assert (ROOT / "docs/paper_tables.json").read_bytes() == package.read_bytes()
    counted = 0
    for spec in load_plan("paper").models:
        for budget in (100, 200):
            rules = published_rules(spec, budget, PAPER)
            assert rules and all(7 <= rule.runs <= 10 for rule in rules)
            counted += len(rules)
        assert published_rules(spec, 50, PAPER) == ()  # not published
    listed = load_tables()["rules_in_at_least_7_of_10_runs"]
    assert counted == sum(len(rules) for part in listed.values() for rules in part.values())
    shown = [
        r.rule.show(PAPER.vocabulary) for r in published_rules("hf/bert-base-cased", 200, PAPER)
    ]
    assert "1875-1925 ∧ fashion designer ∧ female → ⊥" in shown
    assert published_rules("demo", 200, PAPER) == ()
    assert published_minutes("hf/FacebookAI/roberta-large@main", 200) == 943.26
    assert published_minutes("hf/someone-else/roberta-large", 200) is None
    budget, shared = published_intersection(PAPER)
    assert budget == 200 and len(shared) == 5
    assert is_the_papers(load_plan("paper").models) and not is_the_papers(["demo"])


@pytest.mark.torch
def test_with_the_papers_models_its_tables_stand_beside_ours(tmp_path):
    pytest.importorskip("torch", reason="needs pip install 'hornlens[hf]'")
    from tests.checkpoints import make_bert

    sentences = [PAPER.render(cell)[0] for cell in PAPER.space.cells()][::3]
    winners = ["She" if "nurse" in sentence else "He" for sentence in sentences]
    make_bert(tmp_path / "bert-base-cased", sentences, winners)
    plan = load_plan("paper").with_models((f"hf/{tmp_path / 'bert-base-cased'}",))
    plan = replace(plan, seeds=(0, 1), stable=2, budgets=(50, 100))
    with _cache(tmp_path) as cache:
        found = run_study(plan, tmp_path / "out", cache, options=ModelOptions(threads=1))
    published = published_for(plan)
    tables = {table.name: table for table in study_tables(summarise(plan, found, published))}
    rows = [row for row in tables["published-100"].rows if row[2] is not None]
    assert "published-50" not in tables and len(rows) == 7
    assert rows[0][1:3] == (NamedRule(("nurse", "male"), None), 10)
    times = times_of(plan, found, published)
    assert times.models[0].budgets[1].published_minutes == 193.74
