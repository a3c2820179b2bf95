"""Endpoints that misbehave, on random scripts: the same result or one clear line, paid once."""

from contextlib import closing
from random import Random

import pytest

from hornlens.api import extract
from hornlens.models.chat.pacing import Patience
from hornlens.models.protocol import ModelError, ModelOptions
from hornlens.models.registry import open_model
from hornlens.probes.loading import parse_probe
from hornlens.store.sqlite import AnswerCache
from tests.chat_server import FAULTS, PROBE, ChatServer, keep_to_itself
from tests.faults.rounds import rounds

pytest.importorskip("openai")
pytest.importorskip("anthropic")

PATIENCE = Patience(attempts=8, busy=20.0, first_pause=0.002, longest_pause=0.02, timeout=2.0)
WAYS = (
    *(("openai", method) for method in ("choose", "constrained", "say", "likelihood")),
    *(("anthropic", method) for method in ("constrained", "say")),
)
AT_ONCE = 4


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    keep_to_itself(monkeypatch, tmp_path)


def run(server, kind, method, cache):
    url = server.root if kind == "anthropic" else server.url
    options = ModelOptions(base_url=url, elicit=method, batch_size=AT_ONCE)
    model = open_model(f"{kind}/tiny", options)
    model.connection.patience = PATIENCE
    return extract(model, parse_probe(PROBE), cache=cache)


def told(result):
    """What a run has found, without the replies' own details."""
    return result.envelope.basis, dict(result.decisions), dict(result.scores)


def script(rng, stops):
    faults = [
        rng.choice(FAULTS) if rng.random() < 0.35 else "" for _ in range(rng.randrange(5, 40))
    ]
    if stops:
        faults.insert(rng.randrange(len(faults) + 1), rng.choice(("400", "401", "403", "404")))
    return faults


@pytest.mark.parametrize("seed", range(rounds(12, 200)))
def test_faults_change_no_result_and_nothing_is_paid_for_twice(seed, tmp_path):
    rng = Random(seed)
    kind, method = WAYS[seed % len(WAYS)]
    stops = rng.random() < 0.3
    with ChatServer() as server:
        expected = told(run(server, kind, method, False))
    faults = script(rng, stops)
    case = f"seed {seed}: {kind} {method}, {faults}"
    with ChatServer(faults=faults) as server, closing(AnswerCache(tmp_path / "a.sqlite")) as cache:
        lines = []
        for _ in range(6):  # the same command goes on
            try:
                found = told(run(server, kind, method, cache))
                break
            except ModelError as error:
                lines.append(str(error))
                assert "\n" not in lines[-1] and len(lines[-1]) < 500, case
        else:
            pytest.fail(f"{case}: {lines}")
        assert found == expected, case
        again = {body: count for body, count in server.paid.items() if count > 1}
        asked_again = sum(count - 1 for body, count in again.items() if "works as" in body)
        # Only a prompt with a call that failed for good while its other one was answered.
        assert asked_again <= len(lines) * AT_ONCE, f"{case}: {lines} {again}"
        if not lines:
            assert asked_again == 0, f"{case}: {again}"
        if not stops:
            assert not lines, f"{case}: {lines}"


def test_who_answers_the_trials_only_is_not_waited_for():
    """Found by script 89: every answer of the right one was taken for a wrong one, and paid."""
    with ChatServer() as server:
        expected = told(run(server, "anthropic", "say", False))
    with ChatServer(faults=["wrong model"] * 2) as server:
        assert told(run(server, "anthropic", "say", False)) == expected
        assert set(server.paid.values()) == {1}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("kind", "method"), [("openai", "choose"), ("anthropic", "constrained")])
def test_each_fault_alone_passes(fault, kind, method):
    with ChatServer() as server:
        expected = told(run(server, kind, method, False))
    with ChatServer(faults=["", "", fault, "", fault]) as server:
        assert told(run(server, kind, method, False)) == expected
        assert not server.faults


@pytest.mark.parametrize("fault", ["500", "cut", "malformed", "empty", "missing", "wrong model"])
def test_trouble_that_stays_is_one_line_in_the_end(fault):
    with ChatServer(faults=["", *[fault] * 200]) as server, pytest.raises(ModelError) as caught:
        run(server, "openai", "choose", False)
    line = str(caught.value)
    if fault == "wrong model":
        assert "quite-another answers now, and tiny did before" in line
    else:  # without a cache nothing is kept, and nothing else is said
        assert "attempts failed" in line and "there is no cache to keep it in" in line
    assert "\n" not in line


@pytest.mark.parametrize("fault", ["400", "401", "403", "404"])
def test_what_does_not_pass_stops_at_once(fault):
    with ChatServer(faults=["", "", "", *[fault] * 200]) as server:
        with pytest.raises(ModelError, match=fault):
            run(server, "openai", "choose", False)
        assert server.begun <= 3 + 2 * AT_ONCE
