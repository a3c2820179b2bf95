"""`hornlens extract --dry-run`: what a run will take, at once, whatever the space; and a pilot."""

import json
import os
import re
import time

import pytest

from hornlens.cli.costs import SAMPLED, cost_of_cells
from hornlens.models.protocol import ModelOptions, Spending
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from tests import command
from tests.chat_server import PROBE, ChatServer, keep_to_itself

pytest.importorskip("openai")

LABEL = (
    'label: {name: verdict, values: [{name: granted, word: "Yes"}, {name: refused, word: "No"}]}'
)


def large_probe(attributes=12, values=8):
    """A probe with 9 to the power of 12 prompts, if nothing else is said."""
    names = [f"a{i}" for i in range(attributes)]
    slots = " ".join(f"{{{name}}}" for name in names)
    lines = ["hornlens: 1", "name: large", f'templates: ["{{label}}: {slots}."]', "attributes:"]
    for name in names:
        each = ", ".join(f"{name} is v{v}" for v in range(values))
        lines.append(f"  - {{name: {name}, values: [{each}], unset: no {name}}}")
    return "\n".join([*lines, LABEL])


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)


def hornlens(*words, cwd):
    env = {**os.environ, "HORNLENS_CACHE": str(cwd / "answers.sqlite")}
    return command.hornlens(*words, cwd=cwd, env=env)


@pytest.fixture
def ask(tmp_path):
    """Return a function that runs the dry run of the large probe at a server."""
    (tmp_path / "large.yaml").write_text(large_probe(), encoding="utf-8")

    def run(server, *more, elicit="say"):
        where = ["--model", "openai/tiny", "--base-url", server.url, "--elicit", elicit]
        words = ["extract", "large.yaml", *where, "--dry-run", *map(str, more)]
        return hornlens(*words, cwd=tmp_path)

    return run


def sentences_sent(server):
    return [body for _, body in server.seen if "Sentence:" in json.dumps(body)]


def test_a_space_that_nobody_can_enumerate_is_planned_at_once_and_nothing_is_sent(ask):
    with ChatServer() as server:
        ask(server)  # the process that is forked for commands has to start
        begin = time.perf_counter()
        done = ask(server, "--price-in", "1", "--price-out", "4")
        took = time.perf_counter() - begin
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert server.begun == 0 and not server.keys
    assert took < 5  # a second, but on a busy machine
    assert "282,429,536,481 prompts" in done.stdout
    rows = re.findall(r"^([123]) +([\d,]+) +([\d,]+) +([\d,]+) +", done.stdout, re.MULTILINE)
    numbers = [[int(cell.replace(",", "")) for cell in row] for row in rows]
    assert [row[0] for row in numbers] == [1, 2, 3]
    assert [row[2] for row in numbers] == [16, 128, 1024]
    assert all(least < expected for _, _, least, expected in numbers)
    assert "takes at least 128 questions" in done.stdout and "59 random cases" in done.stdout
    assert "Nothing was sent" in done.stdout and "at the prices given" in done.stdout
    assert f"{SAMPLED} random" in done.stdout


def test_the_plan_as_json_is_alone_on_standard_output(ask):
    with ChatServer() as server:
        done = ask(server, "--format", "json", "--price-in", "1", "--price-out", "4")
        assert (done.returncode, done.stderr, server.begun) == (0, "", 0)
    content = json.loads(done.stdout)
    assert content["prompts"] == content["cells"] == 9**12
    assert content["asks"] == "sift" and content["pilot"] is None and content["budget"] is None
    plan, one = content["plan"], content["question"]
    assert [row["conditions"] for row in plan["rows"]] == [1, 2, 3]
    row = next(row for row in plan["rows"] if row["conditions"] == plan["conditions"] == 2)
    assert row["at_least"] == 128 and row["usually"][0] <= row["questions"] <= row["usually"][1]
    assert one["calls"] == 1 and one["prompts_read"] == SAMPLED
    cost = content["cost"]
    assert cost["questions"] == cost["calls"] == row["questions"]
    assert cost["tokens_in"] == pytest.approx(row["questions"] * one["tokens_in"], rel=0.01)
    price = (cost["tokens_in"] + 4 * cost["tokens_out"]) / 1e6
    assert cost["cost"] == pytest.approx(price, rel=0.01)


def test_conditions_that_are_asked_for_are_the_plan(ask):
    with ChatServer() as server:
        for flag, wanted in (("2", 1), ("4", 3), ("6", 5)):
            done = ask(server, "--format", "json", "--max-conditions", flag)
            plan = json.loads(done.stdout)["plan"]
            assert plan["conditions"] == wanted  # the label is one of them
            assert [row["conditions"] for row in plan["rows"]] == sorted({1, 2, 3, wanted})


def test_a_pilot_asks_so_many_random_prompts_once_and_pays_for_none_twice(ask):
    with ChatServer(say=lambda sentence: "Yes" if "a0 is v1" in sentence else "No") as server:
        done = ask(server, "--pilot", "40", "--format", "json")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        bodies = sentences_sent(server)
        assert len(bodies) == len({json.dumps(body["messages"]) for body in bodies}) == 40
        first = json.loads(done.stdout)
        pilot = first["pilot"]
        assert (pilot["cells"], pilot["asked"], pilot["reused"]) == (40, 40, 0)
        yes = sum("a0 is v1" in json.dumps(body) for body in bodies)
        assert pilot["answers"] == {"granted": yes, "refused": 40 - yes}
        assert first["plan"]["rates"] == [
            pytest.approx((yes + 0.5) / 41, abs=1e-5),
            pytest.approx((40 - yes + 0.5) / 41, abs=1e-5),
        ]
        even = json.loads(ask(server, "--format", "json").stdout)
        assert len(sentences_sent(server)) == 40
        assert even["cost"]["questions"] < first["cost"]["questions"]
        # What the endpoint counted is less than the bytes that were sent.
        assert 0 < first["question"]["tokens_in"] < even["question"]["tokens_in"]
        again = json.loads(ask(server, "--pilot", "40", "--format", "json").stdout)
        assert len(sentences_sent(server)) == 40
        assert (again["pilot"]["asked"], again["pilot"]["reused"]) == (0, 40)
        assert again["plan"] == first["plan"]
        more = ask(server, "--pilot", "50")
        assert len(sentences_sent(server)) == 50  # ten more
        assert "The pilot sent 10 prompts, and the answers are kept." in more.stdout
        assert "Nothing was sent" not in more.stdout
        assert re.search(r"Pilot: 50 random cells: granted \d+, refused \d+", more.stdout)


def test_a_label_that_the_pilot_never_saw_is_pointed_out(ask):
    with ChatServer(say=lambda sentence: "No") as server:
        done = ask(server, "--pilot", "20")
    assert "granted 0, refused 20" in done.stdout
    assert "granted was never answered" in done.stdout


def test_answers_that_are_none_are_counted_by_themselves(ask):
    with ChatServer(say=lambda sentence: "I cannot know that.") as server:
        done = ask(server, "--pilot", "20", "--format", "json")
    pilot = json.loads(done.stdout)["pilot"]
    assert pilot["no_answer"] == 20 and set(pilot["answers"].values()) == {0}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--max-questions", "50"), "50 questions are too few: not even all"),
        (("--max-questions", "200"), "buy little else"),
        (("--max-questions", "900000"), "900,000 questions are expected to be enough"),
        (("--max-calls", "200"), "--max-calls 200 lets about 200 questions be asked"),
        (("--max-cost", "0.01", "--price-in", "1", "--price-out", "4"), "--max-cost 0.01 lets"),
        (("--max-tokens", "4000"), "--max-tokens 4,000 lets about"),
    ],
)
def test_a_budget_that_is_too_small_is_called_so(ask, more, says):
    with ChatServer() as server:
        done = ask(server, *more)
        assert (done.returncode, done.stderr, server.begun) == (0, "", 0)
    assert says in done.stdout
    with ChatServer() as server:
        budget = json.loads(ask(server, *more, "--format", "json").stdout)["budget"]
    assert "--" + budget["limit"].replace("_", "-") == more[0]
    assert budget["verdict"] in done.stdout


def test_a_pilot_is_refused_where_it_tells_nothing(ask, tmp_path):
    (tmp_path / "jobs.yaml").write_text(PROBE, encoding="utf-8")
    with ChatServer() as server:
        where = ["--model", "openai/tiny", "--base-url", server.url, "--elicit", "say"]
        done = hornlens("extract", "large.yaml", *where, "--pilot", "5", cwd=tmp_path)
        assert done.returncode == 2 and "--pilot goes with --dry-run" in done.stderr
        done = hornlens("extract", "jobs.yaml", *where, "--dry-run", "--pilot", "5", cwd=tmp_path)
        assert done.returncode == 2 and "all 12 prompts are asked" in done.stderr
        done = ask(server, "--pilot", "5", "--equivalence", "pac")
        assert done.returncode == 2 and "--pilot" in done.stderr
        done = ask(server, "--pilot", "5", "--repeats", "auto")
        assert done.returncode == 2 and "--repeats" in done.stderr
        done = ask(server, "--pilot", "5", "--calibration", "mean")
        assert done.returncode == 2 and "calibration mean" in done.stderr
        assert server.begun == 0


def test_a_pilot_stops_at_the_limits_on_spending(ask):
    with ChatServer() as server:
        done = ask(server, "--pilot", "20", "--max-calls", "7")
        assert done.returncode == 2 and "--max-calls 7 is reached" in done.stderr
        assert server.begun <= 7


def test_samples_and_budgets_of_queries_are_said_for_what_they_are(ask):
    with ChatServer() as server:
        done = ask(server, "--equivalence", "pac", "--limit", "5000")
        assert done.returncode == 0, done.stderr
        assert "--equivalence pac asks at most 5,000 of them" in done.stdout
        assert "About 5,000 calls" in done.stdout
        content = json.loads(ask(server, "--equivalence", "budget", "--format", "json").stdout)
        assert content["asks"] == "budget" and content["plan"] is None
        assert server.begun == 0


def test_all_prompts_are_read_if_they_are_few_and_sampled_if_not(tmp_path):
    options = ModelOptions(
        base_url="http://127.0.0.1:9/v1", elicit="choose", limits=Spending(price_in=1, price_out=2)
    )
    model = open_model("openai/tiny", options)
    small = parse_probe(large_probe(3, 4))
    exact = cost_of_cells(small, model)
    assert exact.sampled is None and exact.calls == 2
    every = [
        sum(model.estimate([prompt], ("Yes", "No")).tokens_in for prompt in small.render(cell))
        for cell in small.space.cells()
    ]
    assert exact.tokens_in * 125 == pytest.approx(sum(every)) and exact.largest == max(every)
    large = parse_probe(large_probe(6, 8))  # 531,441 prompts
    begin = time.perf_counter()
    guess = cost_of_cells(large, model)
    assert time.perf_counter() - begin < 2
    assert guess.sampled == SAMPLED and guess.largest >= guess.tokens_in


def test_probes_below_the_limit_are_asked_whole_and_the_estimate_says_that_it_is_one(tmp_path):
    (tmp_path / "p.yaml").write_text(large_probe(5, 9), encoding="utf-8")  # 100,000 prompts
    with ChatServer() as server:
        where = ["--model", "openai/tiny", "--base-url", server.url, "--elicit", "choose"]
        done = hornlens("extract", "p.yaml", *where, "--dry-run", cwd=tmp_path)
        assert (done.returncode, server.begun) == (0, 0)
        content = json.loads(
            hornlens(
                "extract", "p.yaml", *where, "--dry-run", "--format", "json", cwd=tmp_path
            ).stdout
        )
        shown = hornlens("probe", "show", "p.yaml", *where, cwd=tmp_path)
    assert "100,000 prompts." in done.stdout and "About 200,000 calls" in done.stdout
    assert f"the mean of {SAMPLED} random prompts" in done.stdout
    assert "About 200,000 calls" in shown.stdout
    assert content["asks"] == "everything" and content["cost"]["calls"] == 200_000
    assert content["cost"]["questions"] == 100_000


def test_each_way_of_asking_takes_its_own_calls(ask):
    with ChatServer() as server:
        one = json.loads(ask(server, "--format", "json", elicit="say").stdout)
        two = json.loads(ask(server, "--format", "json", elicit="say,choose").stdout)
    assert one["question"]["calls"] == 1 and two["question"]["calls"] == 3  # in both orders
    assert two["prompts"] == 2 * one["prompts"]
    # A cell that is asked in two ways may get both answers.
    assert [one["plan"]["rows"][1]["at_least"], two["plan"]["rows"][1]["at_least"]] == [128, 64]


def test_each_phrasing_is_asked_by_a_pilot_and_either_may_break_a_rule(tmp_path):
    text = large_probe().replace('."]', '.", "So {label}, then: {a0} {a1}."]', 1)
    (tmp_path / "two.yaml").write_text(text, encoding="utf-8")
    with ChatServer(say=lambda s: "Yes" if s.startswith("So ") else "No") as server:
        where = ["--model", "openai/tiny", "--base-url", server.url, "--elicit", "say"]
        words = ["extract", "two.yaml", *where, "--dry-run", "--pilot", "20", "--format", "json"]
        done = hornlens(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        content = json.loads(done.stdout)
        assert content["pilot"]["answers"] == {"granted": 20, "refused": 20}
        assert content["prompts"] == 2 * 9**12 and content["question"]["calls"] == 2
        assert len(sentences_sent(server)) == content["pilot"]["asked"] <= 40
        assert content["plan"]["rows"][1]["at_least"] == 64


# Targets


def write_target(folder, body):
    package = folder / "boxes"
    package.mkdir()
    (package / "__init__.py").write_text(body, encoding="utf-8")
    information = folder / "boxes-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: boxes\nVersion: 1\n", encoding="utf-8")
    (information / "entry_points.txt").write_text(
        "[hornlens.targets]\nbox = boxes:KIND\n", encoding="utf-8"
    )


TARGET = """
from pathlib import Path
from hornlens import FunctionTarget, Nominal, Space
from hornlens.targets import TargetKind

def call(names):
    with Path("asked.txt").open("a") as file:
        file.write("x")
    return "yes" if "a0v0" in names else "no"

def make(rest):
    n = int(rest)
    each = tuple(Nominal(f"a{i}", tuple(f"a{i}v{v}" for v in range(9))) for i in range(n))
    return FunctionTarget(call, Space(each, Nominal("answer", ("yes", "no"))), f"box/{rest}")

KIND = TargetKind("box/N", "a box", make)
"""


def test_a_target_is_planned_and_asked_by_a_pilot_only(tmp_path):
    write_target(tmp_path, TARGET)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *_path()])}

    def run(*words):
        return command.started("extract", *words, "--dry-run", cwd=tmp_path, env=env)

    done = run("--target", "box/12")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "1,000,000,000,000 cells" in done.stdout
    assert "takes at least 162 questions" in done.stdout and "calls" not in done.stdout
    assert "Nothing was asked." in done.stdout and not (tmp_path / "asked.txt").exists()
    content = json.loads(run("--target", "box/12", "--format", "json", "--pilot", "30").stdout)
    assert len((tmp_path / "asked.txt").read_text()) == 30 == content["pilot"]["asked"]
    assert content["question"] is content["cost"] is content["prompts"] is None
    small = run("--target", "box/3")
    assert "1,000 cells" in small.stdout and "all of them are asked" in small.stdout.lower()
    learned = run("--target", "box/12", "--equivalence", "budget")
    assert "budget asks at most 1,000,000,000,000 of them" in learned.stdout
    refused = run("--target", "box/3", "--pilot", "3")
    assert refused.returncode == 2 and "all 1,000 cells are asked" in refused.stderr
    assert len((tmp_path / "asked.txt").read_text()) == 30


def _path():
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def test_a_target_that_is_looked_into_is_not_asked(tmp_path):
    (tmp_path / "f.cnf").write_text("p cnf 2 1\n-1 2 0\n", encoding="utf-8")
    done = hornlens("extract", "--target", "formula/f.cnf", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0 and "worked out" in done.stdout
    words = ["extract", "--target", "formula/f.cnf", "--dry-run", "--format", "json"]
    content = json.loads(hornlens(*words, cwd=tmp_path).stdout)
    assert content["asks"] == "nothing"
    refused = hornlens(*words, "--pilot", "3", cwd=tmp_path)
    assert refused.returncode == 2 and "--pilot" in refused.stderr


def test_a_classifier_with_an_engine_of_its_own_has_no_plan(tmp_path):
    datasets = pytest.importorskip("sklearn.datasets")
    skops = pytest.importorskip("skops.io")
    from sklearn.tree import DecisionTreeClassifier

    inputs, labels = datasets.load_breast_cancer(return_X_y=True)
    skops.dump(DecisionTreeClassifier(max_depth=6).fit(inputs, labels), tmp_path / "tree.skops")
    lines = [",".join([*(f"x{i}" for i in range(inputs.shape[1])), "kind"])]
    for row, label in zip(inputs.tolist(), labels.tolist(), strict=True):
        lines.append(",".join(map(str, [*row, label])))
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["extract", "--target", "classifier/tree.skops,rows.csv,kind", "--dry-run"]
    words += ["--limit", "100"]
    done = hornlens(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Its engine looks into the model" in done.stdout and "Nothing was asked." in done.stdout
    assert json.loads(hornlens(*words, "--format", "json", cwd=tmp_path).stdout)["asks"] == "engine"
