"""People from a SPARQL endpoint: a real engine with Wikidata-shaped RDF, faults, kills, rules."""

import csv
import json
import random
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import groupby

import pytest

from hornlens.api import extract
from hornlens.errors import HornlensError, InputError
from hornlens.pronouns.continents import CONTINENTS
from hornlens.pronouns.occupations import Occupation
from hornlens.pronouns.periods import Periods
from hornlens.pronouns.sparql import Endpoint, retry_after
from hornlens.pronouns.wikidata import facts_query, people_query, retrieve, user_agent
from tests import sparql_server as faults
from tests.command import START, hornlens
from tests.sparql_server import FEMALE, MALE, NON_BINARY, UNKNOWN, Wikidata, serving

NURSE, PRIEST = Occupation("nurse", "Q186360"), Occupation("priest", "Q42603")
FILES = ("people.csv", "dataset.json", "probe.yaml")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@contextmanager
def no_bar(doing, total, unit):
    yield lambda done: None


def endpoint_of(server, **changes):
    settings = {"timeout": 5.0, "tries": 4, "retry_wait": 0.0, "jitter": random.Random(0)}
    return Endpoint(server.url, user_agent("me@example.org"), **{**settings, **changes})


def fetch(server, out, occupations=(NURSE, PRIEST), page_size=4, **changes):
    endpoint = endpoint_of(server, **changes)
    cut = Periods((1875, 1925, 1951, 1970))
    return retrieve(occupations, endpoint, out, "test", cut, page_size, no_bar)


def rows_of(out):
    with open(out / "people.csv", newline="") as file:
        return {(row["person"], row["occupation"]): row for row in csv.DictReader(file)}


def contents(out):
    return {name: (out / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def crowd():
    """Thirty people, some of both occupations, in three countries."""
    wikidata, rng = Wikidata(), random.Random(7)
    wikidata.country("Q183", "Q46")
    wikidata.country("Q159", "Q46", "Q48")
    wikidata.country("Q30", "Q49")
    for number in rng.sample(range(1, 5000), 30):
        wikidata.person(
            f"Q{number}",
            rng.choice([["Q186360"], ["Q42603"], ["Q186360", "Q42603"]]),
            [rng.choice([MALE, FEMALE])],
            [f"{rng.randint(1800, 2000)}-01-01T00:00:00Z"],
            [rng.choice(["Q183", "Q159", "Q30"])],
        )
    return wikidata


@pytest.fixture(scope="module")
def whole(crowd, tmp_path_factory):
    """An undisturbed retrieval: the files, and the queries that it asked."""
    out = tmp_path_factory.mktemp("whole") / "test"
    with serving(crowd) as server:
        fetch(server, out)
    return contents(out), server.asked


# The rules


def one(tmp_path, prepare, **person):
    """Return the row of a nurse Q1 with these facts, as people.csv has it."""
    wikidata = Wikidata()
    for qid, continents in {"Q183": ["Q46"], "Q142": ["Q46"], "Q30": ["Q49"]}.items():
        wikidata.country(qid, *continents)
    prepare(wikidata)
    wikidata.person("Q1", ["Q186360"], **person)
    with serving(wikidata) as server:
        fetch(server, tmp_path / "test", [NURSE])
    return rows_of(tmp_path / "test")["Q1", "nurse"]


def nothing_more(wikidata):
    pass


@pytest.mark.parametrize(
    ("genders", "recorded"),
    [
        ([MALE], "male"),
        ([FEMALE], "female"),
        ([NON_BINARY], "other"),
        ([MALE, FEMALE], "other"),
        ([FEMALE, NON_BINARY], "other"),
        ([FEMALE, UNKNOWN], "female"),
        ([UNKNOWN], ""),
        ([UNKNOWN, UNKNOWN], ""),
        ([], ""),
    ],
)
def test_a_gender_counts_if_it_is_the_only_one_recorded(tmp_path, genders, recorded):
    assert one(tmp_path, nothing_more, genders=genders)["gender"] == recorded


@pytest.mark.parametrize(
    ("births", "year"),
    [
        (["1943-05-01T00:00:00Z"], "1943"),
        ([("1943-01-01T00:00:00Z", 9)], "1943"),
        ([("1943-02-01T00:00:00Z", 10)], "1943"),
        ([("1940-01-01T00:00:00Z", 8)], ""),  # a decade
        ([("1901-01-01T00:00:00Z", 7)], ""),  # a century
        ([("1940-01-01T00:00:00Z", 8), ("1943-01-01T00:00:00Z", 9)], "1943"),
        (["1950-01-01T00:00:00Z", "1943-05-01T00:00:00Z"], "1943"),  # the earliest
        ([("1943-01-01T00:00:00Z", 9), ("1950-01-01T00:00:00Z", 9, "Preferred")], "1950"),
        ([("1950-01-01T00:00:00Z", 9), ("1943-01-01T00:00:00Z", 9, "Deprecated")], "1950"),
        ([("1943-01-01T00:00:00Z", 9, "Deprecated")], ""),
        ([("1940-01-01T00:00:00Z", 8, "Preferred"), ("1940-01-01T00:00:00Z", 9)], ""),
        ([(UNKNOWN, 0, "Preferred"), ("1943-01-01T00:00:00Z", 9)], ""),
        ([(UNKNOWN, 0), ("1943-01-01T00:00:00Z", 9)], "1943"),
        ([(UNKNOWN, 0)], ""),
        (["-0043-07-13T00:00:00Z"], "-43"),  # 44 BC
        (["0000-03-01T00:00:00Z"], "0"),  # 1 BC
        (["0044-03-01T00:00:00Z"], "44"),
        (["-0043-07-13T00:00:00Z", "-0099-07-13T00:00:00Z"], "-99"),
        ([], ""),
    ],
)
def test_the_birth_year_is_the_earliest_of_the_best_ranked_precise_dates(tmp_path, births, year):
    row = one(tmp_path, nothing_more, births=births)
    assert row["birth_year"] == year
    assert row["period"] == Periods((1875, 1925, 1951, 1970)).of(int(year) if year else None)


@pytest.mark.parametrize(
    ("countries", "stored", "continent"),
    [
        (["Q183"], "Q183", "Europe"),
        (["Q183", "Q142"], "Q142 Q183", "Europe"),
        (["Q183", "Q30"], "Q30 Q183", ""),
        (["Q183", ("Q30", "Preferred")], "Q30", "North America"),
        (["Q183", ("Q30", "Deprecated")], "Q183", "Europe"),
        (["Q183", UNKNOWN], "Q183", "Europe"),
        (["Q183", "Q999999"], "Q183 Q999999", "Europe"),  # of the other, no continent is known
        (["Q999999"], "Q999999", ""),
        ([UNKNOWN], "", ""),
        ([], "", ""),
    ],
)
def test_a_person_is_of_the_one_continent_of_all_citizenships(
    tmp_path, countries, stored, continent
):
    row = one(tmp_path, nothing_more, countries=countries)
    assert (row["country"], row["continent"]) == (stored, continent)


@pytest.mark.parametrize(
    ("country", "continents", "continent"),
    [
        ("Q159", ["Q46", "Q48"], "Eurasia"),
        ("Q43", ["Q5401", "Q48"], "Eurasia"),
        ("Q804", ["Q49", "Q18"], "Americas"),
        ("Q408", ["Q3960", "Q55643"], "Oceania"),
        ("Q408", ["Q3960"], "Australia"),
        ("Q664", ["Q538"], "Oceania"),
        ("Q79", ["Q15", "Q48"], "Africa"),  # a mixture: the built-in table says Africa
        ("Q999999", ["Q15", "Q48"], ""),  # a mixture that the table does not know
        ("Q999999", [UNKNOWN, "Q46"], "Europe"),
        ("Q999999", ["Q31337"], ""),  # no continent
    ],
)
def test_a_country_on_several_continents_has_one(tmp_path, country, continents, continent):
    row = one(tmp_path, lambda w: w.country(country, *continents), countries=[country])
    assert row["continent"] == continent


def test_the_paper_s_continents_all_have_an_id():
    from hornlens.probes.loading import load_probe

    paper = {value.name for value in load_probe("gender-occupation").attributes[1].values}
    assert set(CONTINENTS.values()) == paper | {"Antarctica"}


def test_who_is_recorded_as_something_else_than_human_is_left_out_and_counted(tmp_path):
    wikidata = Wikidata()
    wikidata.person("Q1", ["Q186360"], births=["1943-05-01T00:00:00Z"])
    wikidata.person("Q2", ["Q186360"], kinds=["Q15632617"])  # a fictional human
    wikidata.person("Q3", ["Q186360"], kinds=["Q15632617", "Q5"])
    wikidata.person("Q4", ["Q186360"], kinds=[])
    with serving(wikidata) as server:
        dataset = fetch(server, tmp_path / "test", [NURSE])
    assert [person for person, _ in rows_of(tmp_path / "test")] == ["Q1", "Q3", "Q4"]
    assert dataset.transformation["left_out"] == {"not human (P31)": 1}
    assert dataset.transformation["unknown"] == {
        "birth year: not recorded": 2,
        "continent: no citizenship": 3,
        "gender: not recorded": 3,
    }


def test_a_person_has_one_row_for_each_occupation_even_if_stated_twice(tmp_path):
    wikidata = Wikidata()
    wikidata.person("Q10", ["Q186360", "Q42603", "Q186360"], [FEMALE])
    wikidata.person("Q9", ["Q186360"], [MALE])
    with serving(wikidata) as server:
        dataset = fetch(server, tmp_path / "test")
    assert list(rows_of(tmp_path / "test")) == [
        ("Q9", "nurse"),
        ("Q10", "nurse"),
        ("Q10", "priest"),
    ]
    assert dataset.people == 3 and dataset.transformation["left_out"] == {}


def test_only_truthy_occupations_count(tmp_path):
    wikidata = Wikidata()
    wikidata.person("Q1", ["Q186360"])
    wikidata.person("Q2", [])
    wikidata.state("Q2", "P106", "Q186360", "Deprecated", best=False)
    with serving(wikidata) as server:
        fetch(server, tmp_path / "test", [NURSE])
    assert list(rows_of(tmp_path / "test")) == [("Q1", "nurse")]


# Paging


def test_pages_of_any_size_give_the_same_bytes(crowd, whole, tmp_path):
    for size in (1, 7, 1000):
        with serving(crowd) as server:
            fetch(server, tmp_path / str(size) / "test", page_size=size)
        assert without_url(contents(tmp_path / str(size) / "test")) == without_url(whole[0])
        asked = [query for query in server.asked if '"birth"' in query]
        assert all(len(set(re.findall(r"wd:(Q\d+)", query))) <= size for query in asked)


def test_the_data_set_is_what_the_engine_holds(crowd, whole, tmp_path):
    query = """PREFIX wdt: <http://www.wikidata.org/prop/direct/>
        SELECT ?who ?work ?gender ?born WHERE
        { ?who wdt:P106 ?work ; wdt:P21 ?gender ; wdt:P569 ?born }"""
    wanted = set()
    for who, work, gender, born in crowd.store.query(query):
        name = {"Q186360": "nurse", "Q42603": "priest"}[work.value.rpartition("/")[2]]
        sex = "male" if gender.value.endswith(MALE) else "female"
        wanted.add((who.value.rpartition("/")[2], name, sex, born.value[:4]))
    rows = csv.DictReader(whole[0]["people.csv"].decode().splitlines())
    assert {(r["person"], r["occupation"], r["gender"], r["birth_year"]) for r in rows} == wanted
    assert len(wanted) > 30


def test_other_periods_and_more_occupations_ask_only_for_what_is_new(crowd, tmp_path):
    with serving(crowd) as server:
        fetch(server, tmp_path / "test", [NURSE])
        before = len(server.asked)
        retrieve(
            [NURSE], endpoint_of(server), tmp_path / "test", "test", Periods((1900,)), 9, no_bar
        )
        assert len(server.asked) == before
        both = fetch(server, tmp_path / "test", [NURSE, PRIEST])
        assert len(server.asked) > before
        assert not [query for query in server.asked[before:] if "wd:Q186360" in query]
        fresh = fetch(server, tmp_path / "fresh" / "test", [NURSE, PRIEST])
    assert both == fresh and contents(tmp_path / "test") == contents(tmp_path / "fresh" / "test")


def test_answers_of_another_endpoint_are_not_mixed_in(crowd, tmp_path):
    with serving(crowd) as server:
        fetch(server, tmp_path / "test")
    with serving(crowd) as other, pytest.raises(InputError, match="choose another --out"):
        fetch(other, tmp_path / "test")


def test_the_query_says_nothing_that_only_one_engine_knows():
    for query in (people_query("Q1"), people_query("Q1", "07"), facts_query(["Q1", "Q2"])):
        assert "SERVICE" not in query and "hint:" not in query and "ORDER BY" not in query
    assert facts_query(["Q1", "Q2"]).count("VALUES ?item { wd:Q1 wd:Q2 }") == 4


# Faults


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(429, Retry_After="0"),
        faults.status(429, Retry_After=format_datetime(datetime.now(UTC) - timedelta(hours=1))),
        faults.status(500),
        faults.status(502),
        faults.status(503),
        faults.status(503, Retry_After="0"),
        faults.web_page,
        faults.half_a_result,
        faults.broken_off,
        faults.broken_off_chunks,
        faults.hang_up,
    ],
)
@pytest.mark.parametrize("first", [1, 4, 8])
def test_what_passes_is_asked_again_and_leaves_no_trace(crowd, whole, tmp_path, fault, first):
    def twice(number, query):
        return fault if number in (first, first + 1) else None

    with serving(crowd, twice) as server:
        fetch(server, tmp_path / "test")
    assert without_url(contents(tmp_path / "test")) == without_url(whole[0])
    assert server.asked[first - 1] == server.asked[first] == server.asked[first + 1]
    assert len(server.asked) == len(whole[1]) + 2


def without_url(files):
    """Leave out the port of the server, which differs from run to run."""
    return {name: re.sub(rb"127\.0\.0\.1:\d+", b"", body) for name, body in files.items()}


def patience(fault):
    """How long to wait: as short as may be only where the server is late."""
    return 0.5 if fault is LATE else 10.0


LATE = faults.sleep(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [LATE, faults.stack_trace, faults.status(504)])
def test_a_page_that_takes_too_long_is_halved(crowd, whole, tmp_path, fault):
    def too_long(number, query):
        return fault if len(set(re.findall(r"wd:(Q\d+)", query))) > 2 else None

    with serving(crowd, too_long) as server:
        fetch(server, tmp_path / "test", page_size=8, timeout=patience(fault))
    assert without_url(contents(tmp_path / "test")) == without_url(whole[0])
    sizes = [len(set(re.findall(r"wd:(Q\d+)", q))) for q in server.asked if '"birth"' in q]
    assert sizes[:3] == [8, 4, 2]


@pytest.mark.parametrize("fault", [LATE, faults.stack_trace])
def test_a_list_that_takes_too_long_is_asked_for_by_last_digits(crowd, whole, tmp_path, fault):
    def too_long(number, query):
        listing = "wdt:P106" in query
        return (
            fault
            if listing and not re.search(r'STRENDS\(STR\(\?item\), "\d[37]"\)|"[0-689]"', query)
            else None
        )

    with serving(crowd, too_long) as server:
        fetch(server, tmp_path / "test", [NURSE], timeout=patience(fault))
        asked = len(server.asked)
        server.fault = lambda number, query: None
        fetch(server, tmp_path / "test", [NURSE])
        assert len(server.asked) == asked
    lists = [query for query in server.asked if "wdt:P106" in query]
    assert len(lists) == len(set(lists)) > 11
    nurses = [line for line in whole[0]["people.csv"].splitlines() if line.startswith(b"nurse")]
    got = (tmp_path / "test" / "people.csv").read_bytes().splitlines()
    assert [line for line in got if line.startswith(b"nurse")] == nurses


def test_patience_ends_with_how_to_go_on_and_then_it_goes_on(crowd, whole, tmp_path):
    down = {"from": 6}

    def outage(number, query):
        return faults.status(503) if number >= down["from"] else None

    with serving(crowd, outage) as server:
        with pytest.raises(HornlensError) as caught:
            fetch(server, tmp_path / "test", tries=3)
        assert "it answers 503 Service Unavailable; tried 3 times" in str(caught.value)
        assert "run the same command again to go on" in str(caught.value)
        assert len(server.asked) == 5 + 3
        assert not (tmp_path / "test" / "dataset.json").exists()
        down["from"] = 10**6
        fetch(server, tmp_path / "test")
    assert without_url(contents(tmp_path / "test")) == without_url(whole[0])
    assert [query for query, _ in groupby(server.asked)] == whole[1]


def test_a_time_out_of_the_smallest_page_ends_too(crowd, tmp_path):
    def always(number, query):
        return None if "wdt:P106" in query else faults.stack_trace

    with serving(crowd, always) as server, pytest.raises(HornlensError, match="took it too long"):
        fetch(server, tmp_path / "test", tries=2)
    assert len(server.asked) < 10


@pytest.mark.parametrize("code", [400, 403, 404])
def test_what_does_not_pass_is_not_asked_again(crowd, tmp_path, code):
    with (
        serving(crowd, lambda number, query: faults.status(code)) as server,
        pytest.raises(HornlensError, match=f"it answers {code} .*: sorry"),
    ):
        fetch(server, tmp_path / "test")
    assert len(server.asked) == 1


def test_waits_grow_with_jitter_and_retry_after_is_honoured(crowd):
    waits, said = [], []
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100))
    plan = [
        faults.status(500),
        faults.status(500),
        faults.status(429, Retry_After="17"),
        faults.status(503, Retry_After=later),
        faults.status(500),
        None,
    ]
    with serving(crowd, lambda number, query: plan[number - 1]) as server:
        endpoint = endpoint_of(
            server, tries=6, retry_wait=1.0, sleep=waits.append, notify=said.append
        )
        assert len(endpoint.select(people_query("Q186360"))) > 10
    assert 0.75 <= waits[0] <= 1.25 and 1.5 <= waits[1] <= 2.5 and 12 <= waits[4] <= 20
    assert waits[2] == 17 and 90 < waits[3] <= 100
    assert waits[0] != 1.0 and said[2] == "it answers 429 Too Many Requests; asking again in 17.0 s"
    assert (endpoint.requests, endpoint.failures) == (6, 5)


def test_who_is_told_to_wait_for_hours_is_told_to_come_back(crowd):
    with serving(crowd, lambda number, query: faults.status(429, Retry_After="7200")) as server:
        endpoint = endpoint_of(server, sleep=lambda seconds: pytest.fail("it waits"))
        with pytest.raises(HornlensError, match="7,200 s; then run the same command again"):
            endpoint.select(people_query("Q186360"))


def test_retry_after_is_read_as_seconds_or_as_a_date():
    assert retry_after(None) is None and retry_after("soon") is None
    assert retry_after("0") == 0 and retry_after(" 120 ") == 120
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert 3500 < retry_after(format_datetime(datetime.now(UTC) + timedelta(hours=1))) <= 3600
    assert retry_after("Wed, 99 Oct 2015 07:28:00 GMT") is None


def test_nobody_listening_is_said_in_a_line(tmp_path):
    with serving(Wikidata()) as server:
        pass
    with pytest.raises(HornlensError, match=r"the connection failed \(.*refused\); tried 2 times"):
        fetch(server, tmp_path / "test", tries=2)


def test_an_answer_that_drips_for_ever_times_out(crowd):
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            time.sleep(0.05)

    with serving(crowd, lambda number, query: drip) as server:
        started = time.perf_counter()
        with pytest.raises(HornlensError, match=r"no answer in 0\.3 s"):
            endpoint_of(server, timeout=0.3, tries=1).select(people_query("Q186360"))
        assert time.perf_counter() - started < 1.5


def test_an_endpoint_must_be_an_address():
    for bad in ("", "query.wikidata.org", "file:///etc/passwd", "https://me:secret@example.org/"):
        with pytest.raises(HornlensError, match="takes the http") as caught:
            Endpoint(bad, "test")
        assert "secret" not in str(caught.value)


def test_a_contact_cannot_smuggle_in_headers():
    with pytest.raises(HornlensError, match="--contact"):
        user_agent("me\r\nX-Other: 1")


def test_nobody_found_is_an_error(tmp_path):
    with serving(Wikidata()) as server, pytest.raises(HornlensError, match="knows nobody"):
        fetch(server, tmp_path / "test")


# The command


def command(server, out, *more):
    return [
        *("dataset", "wikidata", "--endpoint", server.url),
        *("--occupations", str(out.parent / "occupations.csv"), "--out", str(out)),
        *("--page-size", "4", "--retry-wait", "0", "--bounds", "1875,1925,1951,1970"),
        *more,
    ]


def write_occupations(folder, *more):
    rows = ["occupation,wikidata_qid", "nurse,Q186360", "priest,Q42603", *more]
    (folder / "occupations.csv").write_text("\n".join(rows) + "\n")


def run(server, out, *more):
    return hornlens(*command(server, out, *more))


def test_the_command_says_who_asks_what_it_found_and_what_it_skipped(crowd, whole, tmp_path):
    write_occupations(tmp_path, "archbishop,")
    with serving(crowd) as server:
        shown = run(server, tmp_path / "test", "--contact", "me@example.org")
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr == (
        "hornlens: warning: skipped, as their id on Wikidata is not known: archbishop\n"
    )
    assert "test: " in shown.stdout and "nurse" in shown.stdout
    assert set(server.agents) == {user_agent("me@example.org")}
    assert re.fullmatch(r"hornlens/[\d.]+ \(.*; contact: me@example.org\)", server.agents[0])
    assert without_url(contents(tmp_path / "test")) == without_url(whole[0])
    about = json.loads((tmp_path / "test" / "run.json").read_text())
    assert about["requests"] == len(server.asked) and about["failures"] == 0


def test_the_probe_of_a_retrieved_data_set_can_be_asked(crowd, tmp_path):
    with serving(crowd) as server:
        dataset = fetch(server, tmp_path / "test")

    def black_box(prompt, words):
        return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]

    result = extract(black_box, tmp_path / "test" / "probe.yaml", cache=False)
    assert result.space == dataset.probe.space
    assert result.question.templates == dataset.probe.templates
    assert "nurse ∧ male → ⊥" in result.envelope.readable.show(result.space.vocabulary)


def test_a_failure_of_the_command_is_one_line_and_exit_code_2(crowd, tmp_path):
    write_occupations(tmp_path)
    with serving(crowd, lambda number, query: faults.status(500)) as server:
        shown = run(server, tmp_path / "test", "--tries", "2")
    assert shown.returncode == 2 and shown.stdout == ""
    last = shown.stderr.splitlines()[-1]
    assert last.startswith(f"hornlens: {server.url}: it answers 500") and "to go on" in last


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_killing_the_command_anywhere_loses_and_repeats_nothing(crowd, whole, tmp_path, seed):
    write_occupations(tmp_path)
    rng = random.Random(seed)
    state = {}

    def kill_on_arrival(number, query):
        time.sleep(0.01)
        if number >= state["fatal"]:
            time.sleep(rng.choice([0, 0.005, 0.02]))
            state["process"].send_signal(signal.SIGKILL)
            state["process"].wait()
            return faults.hang_up
        return None

    kills = 0
    with serving(crowd, kill_on_arrival) as server:
        for attempt in range(3):
            last = attempt == 2
            state["fatal"] = 10**6 if last else len(server.asked) + rng.randint(1, 6)
            state["process"] = subprocess.Popen(
                [*START, *command(server, tmp_path / "test", "--quiet")],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            _, errors = state["process"].communicate(timeout=60)
            kills += state["process"].returncode == -signal.SIGKILL
            if state["process"].returncode == 0:
                break
    assert kills >= 1 and state["process"].returncode == 0, errors
    assert without_url(contents(tmp_path / "test")) == without_url(whole[0])
    assert [query for query, _ in groupby(server.asked)] == whole[1]
    leftovers = [path.name for path in (tmp_path / "test").iterdir()]
    assert sorted(leftovers) == sorted([".pages", "run.json", *FILES])


@pytest.mark.slow
def test_killing_the_command_at_any_time_loses_and_repeats_nothing(crowd, whole, tmp_path):
    write_occupations(tmp_path)
    rng = random.Random(0)
    with serving(crowd, lambda number, query: time.sleep(0.03)) as server:
        for _ in range(3):
            before = len(server.asked)
            process = subprocess.Popen(
                [*START, *command(server, tmp_path / "test")],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None and len(server.asked) == before:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.15))
            process.kill()
            process.wait()
        shown = run(server, tmp_path / "test")
    assert shown.returncode == 0, shown.stderr
    assert without_url(contents(tmp_path / "test")) == without_url(whole[0])
    assert [query for query, _ in groupby(server.asked)] == whole[1]
