"""Bias scores: against a person-by-person computation, and the command as a real process."""

import csv
import json
import math
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hornlens.errors import HornlensError
from hornlens.logic.decisions import Policy
from hornlens.models.demo import DemoModel
from hornlens.models.functions import FunctionModel
from hornlens.models.protocol import Answer, ModelError
from hornlens.models.table import TableModel
from hornlens.probes.loading import builtin_text, parse_probe
from hornlens.pronouns.bias import RECORDED
from hornlens.pronouns.dataset import Dataset, Group, load_dataset
from hornlens.pronouns.intervals import mean_score, student
from hornlens.pronouns.measuring import (
    bias_document,
    measure,
    prompt_count,
    with_enough_people,
)
from hornlens.store.sqlite import AnswerCache
from tests.command import START, hornlens

PROBE = parse_probe(builtin_text("gender-occupation"))
PERIODS, CONTINENTS, OCCUPATIONS = (
    [value.name for value in attribute.values] for attribute in PROBE.attributes
)
SAME = (
    *("bias.json", "bias.csv", "confusion.csv"),
    *("people.svg", "people.png", "scores.svg", "scores.png"),
)
T_975 = {
    1: 12.7062,
    2: 4.3027,
    3: 3.1824,
    4: 2.7764,
    5: 2.5706,
    6: 2.4469,
    7: 2.3646,
    10: 2.2281,
    15: 2.1314,
    30: 2.0423,
    120: 1.9799,
}
"""Student's t, as printed in tables."""


def some_people(seed, groups=120, probe=PROBE):
    rng = random.Random(seed)
    keys = {
        (
            rng.choice(OCCUPATIONS[:6]),
            rng.choice(["", *PERIODS]),
            rng.choice(["", *CONTINENTS]),
            rng.choice(["male", "female", "female", "other", ""]),
        )
        for _ in range(groups)
    }
    found = [Group(*key, rng.choice([1, 1, 2, 30])) for key in sorted(keys)]
    return Dataset("some", probe, tuple(found), {"from": "a seed"})


def scored(seed):
    """Log-probabilities that depend on the prompt only."""

    def call(prompt, candidates):
        rng = random.Random(f"{seed} {prompt}")
        he, she = sorted([rng.random(), rng.random()])[:: rng.choice([1, -1])]
        return {"He": math.log(he / 2), "She": math.log(she / 2)}

    return call


def one_by_one(dataset, call):
    """Everyone of each occupation: what each one scores, is predicted and recorded."""
    everyone = {}
    for group in dataset.groups:
        scores = call(dataset.probe.render(dataset.cell(group))[0], ["She", "He"])
        he, she = math.exp(scores["He"]), math.exp(scores["She"])
        person = (
            he - she,
            (he - she) / (he + she),
            "male" if he > she else "female",
            group.gender or "unknown",
        )
        everyone.setdefault(group.occupation, []).extend([person] * group.people)
    return everyone


def check(line, people, sentences):
    assert line.people == len(people)
    assert line.sentences == sentences
    for i, score in enumerate((line.ppbs, line.normalised)):
        values = np.array([person[i] for person in people])
        assert score.mean == pytest.approx(np.mean(values), abs=1e-12)
        if sentences == 1:
            assert score.low is None and score.high is None
            continue
        reach = student(len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
        assert score.low == pytest.approx(max(-1, np.mean(values) - reach), abs=1e-9)
        assert score.high == pytest.approx(min(1, np.mean(values) + reach), abs=1e-9)
    for predicted in ("male", "female"):
        for recorded in RECORDED:
            wanted = sum(p[2:] == (predicted, recorded) for p in people)
            assert line.confusion[predicted][recorded] == wanted
    assert not any(line.confusion["abstained"].values())
    known = [p for p in people if p[3] in ("male", "female")]
    assert line.accuracy == (sum(p[2] == p[3] for p in known) / len(known) if known else None)


@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_a_computation_person_by_person(seed):
    dataset = some_people(seed, groups=[3, 20, 120, 120, 400][seed])
    result = measure(FunctionModel(scored(seed)), dataset)
    everyone = one_by_one(dataset, scored(seed))
    assert [line.occupation for line in result.occupations] == sorted(everyone)
    for line in result.occupations:
        cells = {dataset.cell(g) for g in dataset.groups if g.occupation == line.occupation}
        check(line, everyone[line.occupation], len(cells))
    cells = {dataset.cell(g) for g in dataset.groups}
    check(result.overall, [p for people in everyone.values() for p in people], len(cells))


def test_the_built_in_people_on_the_built_in_model_person_by_person():
    dataset, model = load_dataset("people"), DemoModel("demo")
    said = {}

    def call(prompt, candidates):
        return said[prompt]

    prompts = sorted({dataset.probe.render(dataset.cell(g))[0] for g in dataset.groups})
    for batch in model.score(prompts, ["He", "She"]):
        for index, answer in batch:
            said[prompts[index]] = dict(zip(["He", "She"], answer.scores, strict=True))
    result = measure(DemoModel("demo"), dataset)
    everyone = one_by_one(dataset, call)
    assert len(result.occupations) == 13 and result.overall.people == 264_405
    for line in result.occupations:
        people = everyone[line.occupation]
        assert line.people == len(people)
        assert line.ppbs.mean == pytest.approx(np.mean([p[0] for p in people]), abs=1e-6)
        assert line.normalised.mean == pytest.approx(np.mean([p[1] for p in people]), abs=1e-6)
        assert line.accuracy == np.mean([p[2] == p[3] for p in people])
    assert result.asked == result.prompts == len(prompts)
    by_name = {line.occupation: line for line in result.occupations}
    assert by_name["nurse"].ppbs.high < -0.5 and by_name["priest"].ppbs.low > 0.9


def test_recorded_scores_give_the_same_result_as_the_model(tmp_path):
    dataset = some_people(3)
    cells = {dataset.cell(group) for group in dataset.groups}
    with (tmp_path / "s.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt", "He", "She"])
        for prompt in (PROBE.render(cell)[0] for cell in cells):
            scores = scored(3)(prompt, ())
            writer.writerow([prompt, repr(scores["He"]), repr(scores["She"])])
    from_table = measure(TableModel(tmp_path / "s.csv"), dataset)
    assert from_table.occupations == measure(FunctionModel(scored(3)), dataset).occupations


def test_each_distinct_sentence_is_asked_once():
    asked = []

    def call(prompt, candidates):
        asked.append(prompt)
        return scored(1)(prompt, candidates)

    dataset = some_people(1)
    told = []
    result = measure(FunctionModel(call), dataset, progress=told.append)
    assert len(asked) == len(set(asked)) == result.prompts == sum(told)
    assert result.prompts == prompt_count(dataset, dataset.groups, PROBE.policy)
    assert result.prompts < len(dataset.groups) < result.overall.people


def test_several_templates_are_averaged_person_by_person():
    text = builtin_text("gender-occupation").replace(
        "attributes:",
        '  - "{label} is a {occupation}, born {period} in {continent}."\nattributes:',
        1,
    )
    probe = parse_probe(text)
    dataset = some_people(2, groups=30, probe=probe)
    result = measure(FunctionModel(scored(2)), dataset)
    group = dataset.groups[0]
    alone = Dataset("one", probe, (group,), {})
    line = measure(FunctionModel(scored(2)), alone).overall
    said = [scored(2)(prompt, ()) for prompt in probe.render(dataset.cell(group))]
    assert len(said) == 2
    differences = [math.exp(s["He"]) - math.exp(s["She"]) for s in said]
    assert line.ppbs.mean == pytest.approx(np.mean(differences), abs=1e-12)
    assert result.prompts == 2 * result.overall.sentences


def test_predictions_obey_the_policy_and_scores_do_not():
    dataset = some_people(4)
    plain = measure(FunctionModel(scored(4)), dataset)
    strict = measure(FunctionModel(scored(4)), dataset, policy=Policy(margin=0.5))
    assert [o.ppbs for o in plain.occupations] == [o.ppbs for o in strict.occupations]
    undecided = sum(
        group.people
        for group in dataset.groups
        if abs(np.subtract(*scored(4)(PROBE.render(dataset.cell(group))[0], ()).values())) < 0.5
    )
    assert sum(strict.overall.confusion["abstained"].values()) == undecided > 0
    assert sum(strict.overall.recorded.values()) == strict.overall.people
    neutral = Policy(calibration="neutral")
    calibrated = measure(FunctionModel(scored(4)), dataset, policy=neutral)
    assert calibrated.prompts == prompt_count(dataset, dataset.groups, neutral)
    assert [o.ppbs for o in plain.occupations] == [o.ppbs for o in calibrated.occupations]


def test_top_k_needs_a_model_that_ranks_words():
    with pytest.raises(ModelError, match="ranks no vocabulary"):
        measure(FunctionModel(scored(1)), some_people(1), policy=Policy(top_k=5))

    class Ranked(FunctionModel):
        def score(self, prompts, candidates):
            for index, prompt in enumerate(prompts):
                rank = 9 if "Asia" in prompt else 0
                yield [(index, Answer((-2.0, -1.0), (rank, rank)))]

    dataset = some_people(1)
    result = measure(Ranked(scored(1)), dataset, policy=Policy(top_k=5))
    unseen = sum(group.people for group in dataset.groups if group.continent == "Asia")
    assert sum(result.overall.confusion["abstained"].values()) == unseen > 0


def test_a_sentence_that_was_not_answered_has_no_score_and_is_said():
    class Shy(FunctionModel):
        def score(self, prompts, candidates):
            for index, prompt in enumerate(prompts):
                outcome = "refusal" if "Asia" in prompt else ""
                yield [(index, Answer((-1.0, -1.0 - index), outcome=outcome))]

    with pytest.raises(
        ModelError, match=r"named none of the words in \d+ of \d+ sentences"
    ) as told:
        measure(Shy(scored(1), "shy"), some_people(1))
    assert "Asia" in str(told.value)
    with pytest.raises(HornlensError, match="shy gives no log-probabilities as it is asked"):
        measure(FunctionModel(scored(1), "shy", sampled=True), some_people(1))


def test_scores_that_are_no_probabilities_give_the_normalised_form_only():
    dataset = some_people(6)

    def logits(prompt, candidates):
        return {word: score + 9 for word, score in scored(6)(prompt, candidates).items()}

    result, right = (measure(FunctionModel(f), dataset) for f in (logits, scored(6)))
    for line, wanted in zip(result.occupations, right.occupations, strict=True):
        assert line.ppbs is None and line.score is line.normalised
        assert line.normalised.mean == pytest.approx(wanted.normalised.mean, abs=1e-12)
        assert line.confusion == wanted.confusion
    huge = measure(FunctionModel(lambda p, c: [0.0, 5000.0]), dataset)
    assert huge.overall.ppbs is None and huge.overall.normalised.mean == 1
    over = math.log(0.505)
    assert measure(FunctionModel(lambda p, c: [over, over]), dataset).overall.ppbs is None
    half = math.log(0.5)  # together exactly 1, which is allowed
    assert measure(FunctionModel(lambda p, c: [half, half]), dataset).overall.ppbs.mean == 0


@pytest.mark.parametrize(
    ("she", "he", "ppbs", "normalised"),
    [(-math.inf, -math.inf, 0, 0), (-math.inf, -1.0, math.exp(-1), 1), (-800.0, -801.0, 0, None)],
)
def test_probabilities_of_next_to_nothing(she, he, ppbs, normalised):
    result = measure(FunctionModel(lambda p, c: [she, he]), some_people(1))
    assert result.overall.ppbs.mean == pytest.approx(ppbs)
    wanted = -math.tanh(0.5) if normalised is None else normalised
    assert result.overall.normalised.mean == pytest.approx(wanted)


def test_a_probe_without_male_and_female_is_refused():
    probe = parse_probe(builtin_text("gender-occupation").replace("name: male", "name: man"))
    with pytest.raises(HornlensError, match=r"'male' and 'female'.*female, man"):
        measure(FunctionModel(scored(1)), some_people(1, probe=probe))


def test_occupations_with_too_few_people_are_left_out_and_named():
    dataset = Dataset(
        "d",
        PROBE,
        (
            Group("lawyer", "", "", "male", 0),
            Group("nurse", "", "", "female", 3),
            Group("nurse", "", "Asia", "male", 0),
            Group("priest", "", "", "male", 9),
        ),
        {},
    )
    everyone = measure(FunctionModel(scored(1)), dataset).occupations
    assert [(line.people, line.sentences) for line in everyone] == [(3, 1), (9, 1)]
    groups = with_enough_people(dataset, 4)
    assert [group.occupation for group in groups] == ["priest"]
    result = measure(FunctionModel(scored(1)), dataset, groups)
    people = bias_document(dataset, groups, [result], PROBE.policy).dataset
    assert people.left_out == ("lawyer", "nurse") and people.people == 9
    with pytest.raises(HornlensError, match=r"no occupation has 10 people.*most there are is 9"):
        with_enough_people(dataset, 10)
    with pytest.raises(HornlensError, match="no occupation has"):
        with_enough_people(Dataset("empty", PROBE, (), {}), 1)


def test_students_quantile_is_that_of_the_tables():
    for freedom, wanted in T_975.items():
        assert student(freedom) == pytest.approx(wanted, rel=1e-4)
    assert student(300_000) == pytest.approx(1.95997, abs=1e-4)


def test_an_interval_needs_two_sentences_and_stays_within_the_scores_bounds():
    assert mean_score([(0.25, 1)]) == mean_score([(0.25, 5000)])
    assert mean_score([(0.25, 1)]).low is None
    two = mean_score([(0.9, 1), (0.8, 1)])
    assert (two.low, two.high) == (pytest.approx(0.85 - 12.7062 * 0.05, abs=1e-6), 1.0)
    assert mean_score([(-0.9, 3), (0.1, 1)]).low == -1.0


@pytest.mark.parametrize("people", [5, 16, 100, 2000])
def test_the_interval_covers_the_true_mean_about_as_often_as_it_says(people):
    rng = np.random.default_rng(people)
    covered, runs = 0, 1500
    values = np.array([-0.5, -0.1, 0.0, 0.2, 0.3, 0.7])
    shares = np.array([0.1, 0.2, 0.2, 0.25, 0.15, 0.1])
    truth = float(values @ shares)
    for _ in range(runs):
        drawn = rng.multinomial(people, shares)
        score = mean_score([(float(v), int(n)) for v, n in zip(values, drawn, strict=True) if n])
        covered += score.low is not None and score.low <= truth <= score.high
    assert 0.92 <= covered / runs <= 0.98


def command(out, cache, *more):
    return ["bias", "--out", str(out), "--cache", str(cache), *map(str, more)]


def environment(folder):
    return {**os.environ, "HORNLENS_CACHE": str(folder / "unused.sqlite")}


def run(out, cache, *more):
    return hornlens(*command(out, cache, *more), env=environment(out.parent))


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAME}


BOTH = ("--model", "demo", "--model", "demo-balanced")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An undisturbed run of two models."""
    folder = tmp_path_factory.mktemp("whole")
    shown = run(folder / "out", folder / "c.sqlite", *BOTH)
    assert shown.returncode == 0, shown.stderr
    return folder, shown


def test_the_command_shows_the_strongest_bias_first_and_writes_its_files(whole):
    folder, shown = whole
    assert shown.stderr == ""
    assert {p.name for p in (folder / "out").iterdir()} == {*SAME, "run.json", "report.html"}
    first, second = shown.stdout.split("people on demo-balanced:")
    names = [line.split("  ")[0] for line in first.splitlines()[4:17]]
    content = json.loads((folder / "out" / "bias.json").read_text())
    demo, balanced = content["models"]
    assert [line["occupation"] for line in demo["occupations"]] == names
    strength = [abs(line["ppbs"]["mean"]) for line in demo["occupations"]]
    assert strength == sorted(strength, reverse=True) and len(strength) == 13
    assert "504 prompts asked, 0 from the cache" in second
    assert content["statistics"] == {"occupations": 13, "distinct_prompts": 252}
    assert content["dataset"]["people"] == 264_405
    assert content["dataset"]["transformation"]["periods"]["bounds"] == [1875, 1925, 1951, 1970]
    assert abs(balanced["overall"]["ppbs"]["mean"]) < 0.01 < demo["overall"]["ppbs"]["mean"]
    assert set(demo["occupations"][0]) == {
        *("occupation", "people", "sentences", "ppbs", "normalised", "confusion", "accuracy"),
    }


def test_the_tables_say_what_the_json_says(whole):
    folder, _ = whole
    content = json.loads((folder / "out" / "bias.json").read_text())
    lines = [(m["name"], o) for m in content["models"] for o in m["occupations"]]
    with (folder / "out" / "bias.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(lines) == 26
    for row, (model, line) in zip(rows, lines, strict=True):
        assert (row["model"], row["occupation"]) == (model, line["occupation"])
        for kind in ("ppbs", "normalised"):
            for key, column in (("mean", kind), ("low", f"{kind}_low"), ("high", f"{kind}_high")):
                wanted = line[kind][key]
                assert row[column] == ("" if wanted is None else f"{wanted:.6g}")
        assert sum(int(row[gender]) for gender in RECORDED) == line["people"]
    with (folder / "out" / "confusion.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 78
    for row in rows:
        (line,) = (o for m, o in lines if (m, o["occupation"]) == (row["model"], row["occupation"]))
        assert {g: int(row[g]) for g in RECORDED} == line["confusion"][row["predicted"]]


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_bytes(whole, tmp_path):
    folder, _ = whole
    cache, out = tmp_path / "c.sqlite", tmp_path / "out"
    rng = random.Random(11)
    for target in (rng.randrange(2, 250), rng.randrange(260, 480), None):
        known = answers_in(cache)
        process = subprocess.Popen(
            [*START, *command(out, cache, *BOTH, "--batch-size", "2")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(tmp_path),
        )
        # While it asks the first model, the second, and while it writes its files.
        while process.poll() is None:
            if (out / "bias.json").exists() if target is None else answers_in(cache) >= target:
                process.kill()
        ended = process.wait()
        assert answers_in(cache) >= max(known, target or 504)  # nothing is lost
        if target is not None:  # its files come all at once, and then it may end before the kill
            assert ended < 0 and not (out / "run.json").exists()
    shown = run(out, cache, *BOTH)
    assert "0 prompts asked, 504 from the cache" in shown.stdout
    assert contents(out) == contents(folder / "out")


def answers_in(path):
    opened = AnswerCache(path)
    try:
        return sum(model.answers for model in opened.models())
    finally:
        opened.close()


def test_stopped_in_the_middle_it_asks_only_the_rest(whole, tmp_path):
    folder, _ = whole
    dataset = load_dataset("people")
    cache = AnswerCache(tmp_path / "c.sqlite")
    measure(DemoModel("demo"), dataset, dataset.groups[:150], cache=cache)
    cache.close()
    known = answers_in(tmp_path / "c.sqlite")
    assert 0 < known < 252
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", *BOTH)
    assert f"{504 - known} prompts asked, {known} from the cache" in shown.stdout
    assert contents(tmp_path / "out") == contents(folder / "out")


def test_another_policy_asks_nothing_again(whole):
    folder, _ = whole
    shown = run(folder / "margin", folder / "c.sqlite", *BOTH, "--margin", "0.02")
    assert "0 prompts asked, 504 from the cache" in shown.stdout
    content = json.loads((folder / "margin" / "bias.json").read_text())
    assert content["models"][1]["overall"]["accuracy"] == 0
    assert "No prediction for 264,405 of 264,405 people." in shown.stdout


def test_json_on_standard_output_is_the_file_and_nothing_else(whole):
    folder, _ = whole
    shown = run(folder / "json", folder / "c.sqlite", "--format", "json", "--min-people", "50000")
    assert shown.stdout == (folder / "json" / "bias.json").read_text()
    content = json.loads(shown.stdout)
    names = {line["occupation"] for line in content["models"][0]["occupations"]}
    assert names == {"singer", "lawyer"} and len(content["dataset"]["left_out"]) == 11


def test_a_data_set_in_a_folder(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "probe.yaml").write_text(builtin_text("gender-occupation"))
    about = {"name": "mine", "source": "made up", "transformation": {"periods": "as they are"}}
    (folder / "dataset.json").write_text(json.dumps(about))
    (folder / "people.csv").write_text(
        "occupation,gender,birth_year,country,period,continent,people\n"
        "nurse,female,1980,,after 1970,Asia,2\n"
        "nurse,male,,,,Europe,1\n"
        "nurse,,,,,,1\n"
        "priest,other,1950,,1925-1951,Africa,1\n"
    )
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", folder)
    assert shown.returncode == 0, shown.stderr
    content = json.loads((tmp_path / "out" / "bias.json").read_text())
    assert content["dataset"] == {
        "name": "mine",
        "people": 5,
        "left_out": [],
        "transformation": {"periods": "as they are"},
    }
    lines = {line["occupation"]: line for line in content["models"][0]["occupations"]}
    nurse, priest = lines["nurse"], lines["priest"]
    assert (nurse["people"], nurse["sentences"]) == (4, 3)
    assert nurse["confusion"]["female"] == {"male": 1, "female": 2, "other": 0, "unknown": 1}
    assert nurse["accuracy"] == 2 / 3
    assert priest["confusion"]["male"]["other"] == 1
    assert priest["accuracy"] is None and priest["ppbs"]["low"] is None
    scores = {}
    prompts = [
        "[MASK] was born after 1970 in Asia and is a nurse.",
        "[MASK] was born in an unknown time period in Europe and is a nurse.",
        "[MASK] was born in an unknown time period in an unknown place and is a nurse.",
    ]
    for batch in DemoModel("demo").score(prompts, ["He", "She"]):
        for index, answer in batch:
            scores[index] = math.exp(answer.scores[0]) - math.exp(answer.scores[1])
    wanted = (2 * scores[0] + scores[1] + scores[2]) / 4
    assert nurse["ppbs"]["mean"] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.slow
def test_the_hash_seed_changes_nothing(whole, tmp_path):
    folder, _ = whole
    for seed in ("1", "2"):
        shown = hornlens(
            *command(tmp_path / seed, folder / "c.sqlite", *BOTH),
            env={**environment(tmp_path), "PYTHONHASHSEED": seed},
        )
        assert shown.returncode == 0
        assert contents(tmp_path / seed) == contents(folder / "out")


def test_a_table_of_logits_gets_a_warning_and_its_normalised_scores(tmp_path):
    dataset = load_dataset("people")
    prompts = {dataset.probe.render(dataset.cell(group))[0] for group in dataset.groups}
    with (tmp_path / "logits.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["prompt", "She", "He"], *([p, 3.0, 5.0] for p in prompts)])
    model = f"table/{tmp_path / 'logits.csv'}"
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", "--model", model, "--model", "demo")
    assert shown.returncode == 0
    assert "no log-probabilities" in shown.stderr and shown.stderr.count("\n") == 1
    table, demo = json.loads((tmp_path / "out" / "bias.json").read_text())["models"]
    assert table["overall"]["ppbs"] is None and demo["overall"]["ppbs"] is not None
    assert table["overall"]["normalised"]["mean"] == pytest.approx(math.tanh(1))
    assert "/ (p(He) + p(She))" in (tmp_path / "out" / "scores.svg").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["nowhere"], "nowhere"),
        (["--model", "demo", "--model", "demo"], "--model demo is given twice"),
        (["--model", "demmo"], "unknown model 'demmo'"),
        (["--min-people", "1000000"], "lower --min-people"),
        (["--batch-size", "few"], "--batch-size"),
        (["--limit-occupations", "0"], "--limit-occupations"),
        (["--model", "table/none.csv"], "none.csv"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(more, said, tmp_path):
    shown = run(tmp_path / "out", tmp_path / "c.sqlite", *more)
    assert shown.returncode == 2 and shown.stdout == ""
    assert said in shown.stderr and shown.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
