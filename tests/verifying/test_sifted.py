"""The checker of sifted results accepts what a sift makes, and refuses whatever was changed."""

import copy
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from hornlens.errors import InputError
from hornlens.verifying.verify import verify_content
from tests.verifying.naive_sift import Naive, problems
from tests.verifying.sifted_results import MAKE, as_saved, made

PLACE = Path("envelope.json")
SEEDS = {
    "box": 120,
    "trap": 30,
    "interrupted": 80,
    "max_rules": 25,
    "varying": 12,
    "wide_background": 6,
    "rare": 6,
    "many_open": 3,
    "ordered": 6,
}


def checked(content):
    return verify_content(content, PLACE)


def refusal(content):
    """What is wrong with a result; a file that is none is refused, too."""
    try:
        return checked(content).wrong
    except InputError as error:
        return f"no result: {error.message}"


# --- what a sift makes ---


@pytest.mark.parametrize("kind", MAKE)
def test_sifted_results_are_accepted(kind):
    for seed in range(SEEDS[kind]):
        done = checked(made(kind, seed))
        assert done.ok, (kind, seed, done.wrong)
        assert sum(line.startswith(("sifted", "draws", "warrants")) for line in done.checked) == 3


def test_there_are_results_of_every_kind():
    """Or else the test above says little."""
    seen = Counter()
    for kind, count in SEEDS.items():
        for seed in range(count):
            content = made(kind, seed)
            sift, space = content["sift"], content["space"]
            for f, family in enumerate(sift["families"]):
                seen[family["purpose"]] += any(draw[1] == f for draw in sift["draws"])
            for line in content["rules"]:
                warrant = line["warrant"]
                own = warrant.get("bound", sift["epsilon"]) != sift["epsilon"]
                seen["a bound of its own" if own else warrant["kind"]] += 1
                seen["listed value"] += (
                    bool(line["then"])
                    and bool(space["label"])
                    and (not {*line["then"]} & {*space["label"]["values"]})
                )
            for key in ("almost", "more_often"):
                seen[f"has {key}"] += key in sift
            seen["open"] += bool(content["open"])
            seen["more open than are there"] += content["certificate"].get("open", 0) > 1_000
            seen["ended"] += "ended" in content["certificate"]
            seen["came to its end"] += "ended" not in content["certificate"]
            seen["worlds"] += "variants" in content
            asked = Counter(answer.get("variant") for answer in content["answers"])
            seen["not all worlds asked"] += len(set(asked.values())) > 1
            seen["complete"] += space.get("complete", False)
            seen["labels", 0 if space["label"] is None else len(space["label"]["values"])] += 1
            seen["no answer"] += bool(content["abstentions"])
            seen["nothing asked"] += not sift["order"]
    wanted = (
        *("list", "bounds", "almost", "rates", "proved", "tested", "a bound of its own"),
        *("listed value", "has almost", "has more_often", "open", "more open than are there"),
        *("ended", "came to its end", "worlds", "not all worlds asked", "complete", "no answer"),
        *(("labels", n) for n in (0, 2, 3, 4)),
    )
    assert min(seen[key] for key in wanted) > 0, {key: seen[key] for key in wanted}


@pytest.mark.parametrize("kind", ["box", "interrupted", "max_rules"])
def test_brute_force_finds_nothing_wrong_either(kind):
    for seed in range(SEEDS[kind] // 2):
        assert not problems(made(kind, seed)), (kind, seed)


@pytest.mark.slow
def test_many_more_sifted_results_are_accepted():
    for kind in ("box", "trap", "interrupted", "max_rules"):
        for seed in range(1_000, 1_400):
            done = checked(as_saved(MAKE[kind](seed)))
            assert done.ok, (kind, seed, done.wrong)


def test_what_cannot_be_checked_is_owned_up_to():
    done = checked(made("box", 0))
    for words in ("the seed was fixed before", "every question that was asked is on record", "own"):
        assert any(words in line for line in done.not_checked), words
    wide = checked(made("wide_background", 1))
    assert any("the background rules out" in line for line in wide.not_checked)


# --- what was changed ---


def nodes(value, path=()):
    """Yield the paths of all that a part of a result holds."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from nodes(inner, (*path, key))


def at(content, path):
    for key in path:
        content = content[key]
    return content


WORDS = {
    "purpose": ("list", "bounds", "almost", "rates"),
    "kind": ("proved", "tested", "open", "exact", "sifted"),
    "weakest": ("proved", "tested", "open"),
    "reason": ("time_limit", "max_questions"),
}


def another(value, key, content, rng):
    """Return something else in the place of a value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 2 * value + 1, 0, 10**18, -1])
    if isinstance(value, float):
        return rng.choice([value * 1.01, value * 0.99, value / 2, min(0.99, 2 * value), 1e-9, 0.0])
    if isinstance(value, str):
        return rng.choice(WORDS.get(key, content["variables"]))
    if isinstance(value, list) and value:
        i, j = rng.randrange(len(value)), rng.randrange(len(value))
        changed = list(value)
        match rng.choice(["drop", "twice", "swap"]):
            case "drop":
                del changed[i]
            case "twice":
                changed.insert(j, value[i])
            case "swap":
                changed[i], changed[j] = changed[j], changed[i]
        return changed
    if isinstance(value, list):
        return [rng.choice(content["variables"])]
    if isinstance(value, dict):
        gone = rng.choice(list(value))
        return {k: v for k, v in value.items() if k != gone}
    return [rng.choice(content["variables"])]


def agree(content):
    """Let all figures that are there twice say what the record says, as a clever forger would."""
    sift, certificate = content["sift"], content["certificate"]
    lines = [content, *content.get("variants", [])]
    for line in lines:
        own = line["certificate"]
        for key in ("conditions", "epsilon", "delta", "candidates", "live"):
            own["sift"][key] = sift[key]
        own["sift"]["questions"] = len(sift["order"])
        if "almost" in sift:
            own["sift"]["almost"] = len(sift["almost"])
        own["rules"], own["open"] = len(content["rules"]), certificate.get("open", 0)
        if not own["open"]:
            del own["open"]
        kinds = {rule["warrant"]["kind"] for rule in content["rules"]}
        own["weakest"] = "tested" if kinds - {"proved"} else "proved"
        figures = line["statistics"]
        figures["candidates"] = sift["candidates"]
        figures["refuted"] = sift["candidates"] - sift["live"]
        figures["drawn"] = len(sift["draws"])
        if line is content:
            figures["questions"] = len(sift["order"])
        if line is not content:
            line["rules"], line["open"] = content["rules"], content["open"]
            for own_line, said in zip(line["readable"], content["rules"], strict=False):
                own_line |= said
    settings = content["settings"]
    settings |= {key: sift[key] for key in ("epsilon", "delta", "seed")}
    if settings["max_conditions"] is not None:
        settings["max_conditions"] = sift["conditions"] + (content["space"]["label"] is not None)


PARTS = ("sift", "certificate", "open", "rules", "statistics")


def change_a_part(content, rng):
    """Change anything in the record, the certificate, the rules or the figures."""
    part = rng.choice(PARTS)
    paths = list(nodes(content[part]))
    kinds = {}
    for path in paths:  # of many alike, one
        kinds.setdefault(tuple("#" if isinstance(k, int) else k for k in path), []).append(path)
    path = rng.choice(kinds[rng.choice(list(kinds))])
    if not path:
        return None
    above = at(content[part], path[:-1])
    above[path[-1]] = another(above[path[-1]], path[-1], content, rng)
    if part == "rules":
        for line, short in zip(content["rules"], content["readable"], strict=False):
            short |= line
        del content["readable"][len(content["rules"]) :]
    return (part, *("#" if isinstance(k, int) else k for k in path))


def move_from_open_to_listed(content, rng):
    i = rng.randrange(len(content["open"]))
    line = content["open"].pop(i)
    if "open" in content["certificate"]:
        content["certificate"]["open"] -= 1
    epsilon, drawn = content["sift"]["epsilon"], content["sift"]["draws"]
    warrant = rng.choice(
        [{"kind": "proved"}, {"kind": "tested", "tested": len(drawn) or 50, "bound": epsilon}]
    )
    for key in ("rules", "readable"):
        content[key].append({"if": line["if"], "then": line["then"], "warrant": warrant})
    return ("move",)


def strengthen_a_warrant(content, rng):
    i = rng.randrange(len(content["rules"]))
    warrant = dict(content["rules"][i]["warrant"])
    if warrant["kind"] != "tested":
        raise ValueError
    warrant |= rng.choice(
        [{"kind": "proved", "tested": 0, "bound": None}, {"bound": warrant["bound"] * 0.9}]
    )
    for key in ("rules", "readable"):
        content[key][i]["warrant"] = {k: v for k, v in warrant.items() if v}
    return ("warrant",)


def drop_an_open_rule(content, rng):
    del content["open"][rng.randrange(len(content["open"]))]
    content["certificate"]["open"] -= 1
    return ("open dropped",)


def drop_a_listed_rule(content, rng):
    i = rng.randrange(len(content["rules"]))
    del content["rules"][i], content["readable"][i]
    return ("listed dropped",)


def generalise_a_rule(content, rng):
    key = rng.choice([key for key in ("rules", "open") if content[key]])
    i = rng.randrange(len(content[key]))
    line = content[key][i]
    name = rng.choice(line["if"])
    for each in (line, content["readable"][i]) if key == "rules" else (line,):
        each["if"] = [n for n in line["if"] if n != name]
    return ("generalised",)


def change_an_answer(content, rng):
    """To another label, or to none."""
    place = rng.randrange(len(content["answers"]))
    answer, label = content["answers"][place], content["space"]["label"]
    says = ["no", "yes"] if label is None else label["values"]
    old, new = answer["winner"], rng.choice([s for s in says if s != answer["winner"]])
    answer["winner"] = new
    if old is None:
        del answer["abstained"]
        content["abstentions"].remove(place)
        content["statistics"]["abstentions"] -= 1
    return ("answer",)


def drop_an_answer(content, rng):
    """Wholly: it leaves no gap in any list that points to answers."""
    answers = content["answers"]
    cell = rng.choice(answers)["set"]
    if any("variant" in answer for answer in answers):
        raise ValueError
    (gone,) = [k for k, answer in enumerate(answers) if answer["set"] == cell]

    def moved(places):
        return [place - (place > gone) for place in places if place != gone]

    place = content["sift"]["order"].index(gone)
    sift = content["sift"]
    sift["order"] = moved(sift["order"])
    sift["draws"] = [[a - (a > place), f, b] for a, f, b in sift["draws"] if a != place]
    sift["curve"] = [[q - (q > place), n] for q, n in sift["curve"]]
    for family in sift["families"]:
        family["at"] -= family["at"] > place
    for line in sift.get("almost", []):
        line["exceptions"] = moved(line["exceptions"])
    for line in content["readable"]:
        line["evidence"] = moved(line["evidence"])
        line["closest"] = None
        line["prompts"] = len(line["evidence"])
    content["abstentions"] = moved(content["abstentions"])
    del answers[gone]
    return ("answer dropped",)


def change_the_seed(content, rng):
    content["sift"]["seed"] += rng.choice([1, 17])
    return ("seed",)


def mark_a_chosen_question(content, rng):
    """As drawn, from a base that has it."""
    sift = content["sift"]
    drawn = {draw[0] for draw in sift["draws"]}
    free = [k for k in range(len(sift["order"])) if k not in drawn]
    f = rng.choice([k for k, family in enumerate(sift["families"]) if family["bases"]])
    base = rng.randrange(len(sift["families"][f]["bases"]))
    sift["draws"] = sorted([*sift["draws"], [rng.choice(free), f, base]])
    return ("marked",)


def fix_a_family_later(content, rng):
    f, at_first = rng.choice([(f, k) for k, f, _ in content["sift"]["draws"]])
    content["sift"]["families"][f]["at"] = at_first + rng.randint(1, 5)
    return ("fixed later",)


CHANGES = (
    *(move_from_open_to_listed, strengthen_a_warrant, drop_an_open_rule, drop_a_listed_rule),
    *(generalise_a_rule, change_an_answer, drop_an_answer, change_the_seed),
    *(mark_a_chosen_question, fix_a_family_later),
)
NEVER_HARMLESS = {
    *(move_from_open_to_listed, strengthen_a_warrant, drop_an_open_rule, drop_a_listed_rule),
}
HARMLESS = {
    ("certificate", "scope", "assumed"): "no rule was given but what the attributes demand",
    ("certificate", "scope"): "the same",
    ("sift", "families", "#", "at"): "that its draws came after it is all that counts",
    ("sift", "families"): "no rule rests on a family that was left out",
    ("sift", "families", "#", "rules"): "others could have been fixed, if the draws bear it",
    ("sift", "families", "#", "rules", "#", "if"): "the same",
    ("sift", "families", "#", "rules", "#", "if", "#"): "the same",
    ("sift", "families", "#", "rules", "#", "then"): "the same",
    ("sift", "families", "#", "rules", "#", "then", "#"): "the same",
    ("sift", "families", "#", "bases"): "nothing was drawn from it",
    ("sift", "families", "#", "bases", "#", "if"): "the same",
    ("sift", "families", "#", "bases", "#", "if", "#"): "the same",
    ("sift", "families", "#", "bases", "#", "rule"): "the same",
    ("sift", "families", "#", "purpose"): "no rule rests on it",
    ("sift", "families", "#", "epsilon"): "the same",
    ("sift", "curve"): "points may be left out",
    ("sift", "curve", "#"): "another point of the same curve",
    ("sift", "curve", "#", "#"): "another point of the same curve",
    ("sift", "epsilon"): "no rule rests on it",
    ("statistics", "model_calls"): "how often a target was called is nobody's claim",
    ("open", "#", "if", "#"): "the same in other words",
    ("rules", "#", "if", "#"): "the same in other words",
    ("sift", "draws"): "with fewer draws, less is shown",
    ("sift", "order"): "chosen questions may come in any order",
    ("sift", "almost"): "where it stands for nothing, it may be left out",
    ("sift", "almost", "#", "exceptions"): "in another order",
    ("sift", "more_often"): "what is not claimed need not be shown",
    ("sift", "seed"): "nothing was drawn",
    ("seed",): "the same",
    ("open",): "in another order",
    ("open", "#", "if"): "in another order",
    ("open", "#", "then"): "the same",
    ("rules",): "in another order",
    ("rules", "#", "if"): "the same",
    ("rules", "#", "then"): "the same",
    ("certificate", "ended", "reason"): "why a run ended is nobody's claim",
    ("certificate", "ended", "after"): "the same",
    ("answer",): "as consistent as before: the target may have said so",
    ("answer dropped",): "it broke nothing, and was drawn for nothing",
    ("fixed later",): "no rule rests on it",
    ("sift", "conditions"): "there are no more attributes than that",
    ("sift", "almost", "#", "if"): "in another order",
    ("rules", "#", "warrant", "bound"): "a weaker bound that its draws bear, too",
    ("marked",): "the seed gives it, and no rule rests on it",
    ("generalised",): "without a name that followed from another one",
}
"""What may be changed so that everything that is claimed is still so, and why."""


def forge(pool, rounds, seed=7):
    """Change results, and hold whatever is accepted against brute force."""
    rng, refused, harmless = Random(seed), Counter(), Counter()
    tried = 0
    while tried < rounds:
        before = made(*rng.choice(pool))
        after = copy.deepcopy(before)
        change = rng.choice(CHANGES) if rng.random() < 0.5 else change_a_part
        try:
            what = change(after, rng)
            if what is not None and rng.random() < 0.7:
                agree(after)
        except (IndexError, ValueError, KeyError, TypeError, AttributeError):
            continue  # there is nothing of the kind to change
        if what is None or after == before:
            continue
        tried += 1
        if refusal(after) is not None:
            refused[change.__name__] += 1
            continue
        harmless[what] += 1
        assert change not in NEVER_HARMLESS, (change.__name__, after["sift"]["seed"])
        assert what in HARMLESS, (what, after)
        assert not problems(after), (what, problems(after)[:3])
    return refused, harmless


def small(kind, count):
    """The results that are small enough for brute force."""
    return [(kind, seed) for seed in range(count) if len(made(kind, seed)["answers"]) <= 150]


def test_changed_results_are_refused():
    pool = [*small("box", 120), *small("interrupted", 80), *small("max_rules", 25)]
    refused, harmless = forge(pool, 1_200)
    print(refused, harmless)
    assert all(refused[change.__name__] > 5 for change in CHANGES), refused
    assert sum(harmless.values()) < 250, harmless


@pytest.mark.slow
def test_many_more_changed_results_are_refused():
    pool = [*small("box", 120), *small("interrupted", 80), *small("max_rules", 25)]
    for seed in range(4):
        forge(pool, 3_000, 100 + seed)


# --- each change by itself, with what is said of it ---


def first_with(kind, fits):
    """The first result of a kind that fits, to be changed."""
    for seed in range(SEEDS[kind]):
        if fits(made(kind, seed)):
            return copy.deepcopy(made(kind, seed))
    raise AssertionError("there is none")


def has_tested(content):
    """Whether a rule was listed by a family's test, and nothing else is there."""
    epsilon = content["sift"]["epsilon"]
    tested = [r for r in content["rules"] if r["warrant"].get("bound") == epsilon]
    return bool(tested) and "variants" not in content and "almost" not in content["sift"]


def listed_by_test(content):
    """A rule that a family's test listed: its place, its family, and the draws of that."""
    for place, line in enumerate(content["rules"]):
        if line["warrant"].get("bound") == content["sift"]["epsilon"]:
            for f, family in enumerate(content["sift"]["families"]):
                said = {"if": line["if"], "then": line["then"]}
                if said in family["rules"] and family["purpose"] == "list":
                    return place, f, [d for d in content["sift"]["draws"] if d[1] == f]
    raise AssertionError("there is none")


def set_warrant(content, place, warrant):
    for key in ("rules", "readable"):
        content[key][place]["warrant"] = warrant


def test_a_rule_moved_from_open_to_listed_is_refused():
    content = first_with("box", lambda c: c["open"] and "ended" in c["certificate"])
    line = content["open"].pop()
    warrant = {"kind": "tested", "tested": 60, "bound": content["sift"]["epsilon"]}
    for key in ("rules", "readable"):
        content[key].append({"if": line["if"], "then": line["then"], "warrant": warrant})
    content["certificate"]["open"] -= 1
    agree(content)
    wrong = refusal(content)
    assert wrong.startswith(f"rule {len(content['rules'])}, ") and "drawn" in wrong, wrong


def test_a_dropped_exception_is_refused():
    """Whoever drops an answer that was drawn lacks what the seed draws next."""
    content = first_with("ordered", has_tested)
    *_, draws = listed_by_test(content)
    place = draws[len(draws) // 2][0]
    answers, sift = content["answers"], content["sift"]
    gone = sift["order"].pop(place)
    sift["order"] = [k - (k > gone) for k in sift["order"]]
    sift["draws"] = [[a - (a > place), g, b] for a, g, b in sift["draws"] if a != place]
    sift["curve"] = [[q - (q > place), n] for q, n in sift["curve"]]
    sift["families"] = [{**g, "at": g["at"] - (g["at"] > place)} for g in sift["families"]]
    del answers[gone]
    content["abstentions"] = [k - (k > gone) for k in content["abstentions"] if k != gone]
    content["certificate"]["answered"] = [len(answers)] * 2
    for line in (content["certificate"]["sift"], content["statistics"]):
        line["questions"] = len(answers)
    content["statistics"]["membership_queries"] = 2 * len(answers)
    wrong = refusal(content)
    assert "and the seed draws" in wrong or "rules were live" in wrong, wrong


def test_a_chosen_answer_that_is_dropped_leaves_a_rule_unbroken():
    content = first_with("ordered", has_tested)
    sift = content["sift"]
    drawn = {at for at, *_ in sift["draws"]}
    for place, at in enumerate(sift["order"]):
        if place not in drawn and content["answers"][at]["winner"] == "q":
            changed = copy.deepcopy(content)
            changed["answers"][at]["winner"] = "p"
            if (wrong := refusal(changed)) and not wrong.startswith("readable"):
                assert "live" in wrong or "missing" in wrong or "open" in wrong, wrong
                return
    raise AssertionError("no answer was the first to break anything")


COUNTS = [
    (("sift", "candidates"), "rules to sift"),
    (("sift", "live"), "rules are live"),
    (("certificate", "sift", "questions"), "certificate: questions is"),
    (("certificate", "sift", "live"), "certificate: live is"),
    (("certificate", "rules"), "certificate: it is"),
    (("certificate", "answered", 0), "questions were answered"),
    (("statistics", "refuted"), "statistics: refuted is"),
    (("statistics", "drawn"), "statistics: drawn is"),
    (("statistics", "questions"), "statistics: questions is"),
    (("statistics", "membership_queries"), "statistics: membership_queries is"),
    (("sift", "curve", 0, 1), "rules were live"),
    (("settings", "seed"), "and the settings say"),
    (("settings", "max_conditions"), "and the settings say"),
    (("sift", "conditions"), "rules to sift"),
]


@pytest.mark.parametrize(("path", "message"), COUNTS)
def test_a_changed_count_is_refused(path, message):
    content = first_with("ordered", has_tested)
    at(content, path[:-1])[path[-1]] += -1 if "answered" in path else 1
    if path[0] == "sift":
        agree(content)
    assert message in refusal(content)


def test_a_changed_warrant_is_refused():
    content = first_with("ordered", has_tested)
    place, *_ = listed_by_test(content)
    warrant, bound = content["rules"][place]["warrant"], content["sift"]["epsilon"]
    for change, message in [
        ({"tested": warrant["tested"] + 1}, f"{warrant['tested']} draws"),
        ({"tested": warrant["tested"] - 1}, f"{warrant['tested']} draws"),
        ({"bound": bound / 2}, f"bear a bound of {bound:g}"),
        ({"bound": bound * 1.5}, f"bear a bound of {bound:g}"),
    ]:
        set_warrant(content, place, warrant | change)
        assert message in refusal(content), change
    set_warrant(content, place, {"kind": "proved"})
    agree(content)
    assert "not all of its cells were asked" in refusal(content)
    set_warrant(content, place, warrant | {"kind": "open"})
    assert "a warrant that is none" in refusal(content)


def test_draws_that_are_too_few_list_nothing():
    """The last draws are taken for chosen questions, so that no one misses an answer."""
    content = first_with("ordered", has_tested)
    place, f, draws = listed_by_test(content)
    sift = content["sift"]
    sift["draws"] = [d for d in sift["draws"] if d not in draws[len(draws) // 3 :]]
    agree(content)
    assert "draws" in refusal(content)
    inside = {
        k
        for k, at in enumerate(sift["order"])
        if {*content["rules"][place]["if"]} - {"q"} <= {*content["answers"][at]["set"]}
    }
    left = sum(d[0] in inside for d in sift["draws"] if d[1] == f)
    set_warrant(content, place, content["rules"][place]["warrant"] | {"tested": left})
    assert "too few to list it" in refusal(content)


def test_a_changed_record_is_refused():
    content = first_with("ordered", has_tested)
    place, f, draws = listed_by_test(content)
    sift, family = content["sift"], content["sift"]["families"][f]

    def without(change, message):
        changed = copy.deepcopy(content)
        change(changed["sift"], changed["sift"]["families"][f])
        agree(changed)
        assert message in refusal(changed), (message, refusal(changed))

    without(lambda s, g: s.update(seed=s["seed"] + 1), "and the seed draws")
    without(lambda s, g: s.update(seed=-1), "seed is -1")
    without(lambda s, g: g.update(delta=g["delta"] * 1.5), "shares of δ add up")
    without(lambda s, g: s.update(spare=s["spare"] + 0.01), "shares of δ add up")
    without(lambda s, g: s.update(delta=s["delta"] / 2), "shares of δ add up")
    without(lambda s, g: g.update(at=draws[0][0] + 1), "was drawn before family")
    without(lambda s, g: s["draws"].reverse(), "not in the order of asking")
    without(lambda s, g: s["order"].append(s["order"][0]), "stands twice")
    without(lambda s, g: s["order"].pop(), "missing in the order of asking")
    without(lambda s, g: s["order"].__setitem__(0, len(content["answers"])), "points to no answer")
    without(lambda s, g: g.update(rules=[*g["rules"], g["rules"][0]]), "a rule twice")
    without(lambda s, g: g.update(purpose="bounds"), "but")
    said = {key: content["rules"][place][key] for key in ("if", "then")}
    own = family["rules"].index(said)
    without(lambda s, g: g["rules"][own].update({"if": ["q"]}), "")
    first = next(k for k in range(len(sift["order"])) if k not in {d[0] for d in sift["draws"]})
    without(lambda s, g: s["draws"].insert(0, [first, f, 0]), "was drawn before family")


def test_a_question_that_was_chosen_is_no_draw():
    """Though its family was fixed, and it lies in the base."""
    content = first_with("ordered", lambda c: has_tested(c) and c["sift"]["families"][0]["at"] < 99)
    place, f, draws = listed_by_test(content)
    sift = content["sift"]
    family = sift["families"][f]
    family["at"] = 0
    for other in sift["families"][:f]:
        other["at"] = 0
    inside = [
        k
        for k, at in enumerate(sift["order"][: draws[0][0]])
        if {*content["rules"][place]["if"]} - {"q"} <= {*content["answers"][at]["set"]}
    ]
    base = draws[0][2]
    taken = {d[0] for d in sift["draws"]}
    chosen = next(k for k in inside if k not in taken)
    sift["draws"] = sorted([*sift["draws"], [chosen, f, base]])
    agree(content)
    assert "and the seed draws" in refusal(content)


def test_a_run_that_was_ended_did_not_come_to_its_end():
    content = first_with("box", lambda c: c["open"] and "ended" in c["certificate"])
    for line in (content, *content.get("variants", [])):
        del line["certificate"]["ended"]
    assert "came to its end, though more can be shown" in refusal(content)


def test_the_record_cannot_be_left_out():
    """What was sifted cannot be passed off as something else."""
    for kind in ("box", "ordered"):
        for seed in range(6):
            content = copy.deepcopy(made(kind, seed))
            del content["sift"]
            assert "without a record" in refusal(content)
            content = copy.deepcopy(made(kind, seed))
            del content["certificate"]["sift"]
            assert refusal(content) is not None
            del content["sift"]
            for line in content.get("variants", []):
                line["certificate"].pop("sift")
            warrants = {line["warrant"]["kind"] for line in content["rules"]}
            if refusal(content) is None:  # then nothing rests on draws, and each rule is proved
                assert not warrants - {"proved"}, (kind, seed)
                assert not [*Naive(made(kind, seed)).check_warrants()], (kind, seed)


@pytest.mark.parametrize("claim", ["every", "decides"])
def test_a_sift_is_not_complete(claim):
    content = copy.deepcopy(made("box", 0))
    content["certificate"]["complete"] = {claim: True}
    assert "certificate: complete is more than a sift shows" in refusal(content)
    content = copy.deepcopy(made("box", 0))
    content["certificate"]["kind"] = "exact"
    assert "its kind is sifted, not exact" in refusal(content)


def test_rules_with_exceptions_are_counted_again():
    content = first_with("box", lambda c: "almost" in c["sift"] and "variants" not in c)
    for change, message in [
        ({"tested": 1_000}, "do not bear"),
        ({"broken": 50}, "do not bear"),
        ({"bound": 0.001}, "more answers break it than"),
        ({"exceptions": []}, "its exceptions are not"),
    ]:
        changed = copy.deepcopy(content)
        changed["sift"]["almost"][0] |= change
        if changed["sift"]["almost"] == content["sift"]["almost"]:
            continue
        wrong = refusal(changed)
        assert message in wrong or "do not bear" in wrong, (change, wrong)
    changed = copy.deepcopy(content)
    changed["certificate"]["sift"]["almost"] += 1
    assert "certificate: almost is" in refusal(changed)


def test_where_a_rare_label_is_given_more_often_is_counted_again():
    content = first_with("rare", lambda c: "more_often" in c["sift"])
    line = content["sift"]["more_often"][0]
    for change, message in [
        ({"at_least": line["at_least"] * 1.01}, "not what its draws"),
        ({"given": line["given"] + 1}, "not what its draws"),
        ({"tested": line["tested"] + 1}, "not what its draws"),
        ({"overall": line["overall"] / 2}, "overall is"),
        ({"if": line["if"][:1]}, "not what its draws"),
        ({"label": "p"}, "not shown to be rare"),
    ]:
        changed = copy.deepcopy(content)
        changed["sift"]["more_often"][0] |= change
        assert message in refusal(changed), change


def test_more_open_rules_than_are_there_are_counted():
    content = copy.deepcopy(made("many_open", 1))
    assert content["certificate"]["open"] > 1_000 == len(content["open"])
    content["certificate"]["open"] += 1
    assert "rules are open, not" in refusal(content)
    content = copy.deepcopy(made("many_open", 1))
    del content["open"][3]
    assert "rules are open, not" in refusal(content)
    content = copy.deepcopy(made("many_open", 1))
    content["open"][5] = content["open"][4]
    assert "stands there twice" in refusal(content)


def test_where_answers_vary_nothing_is_proved():
    content = first_with("varying", lambda c: c["rules"])
    set_warrant(content, 0, {"kind": "proved"})
    agree(content)
    assert "proved, though answers vary" in refusal(content)
    content = first_with("varying", lambda c: c["rules"])
    del content["sift"]["varies"]
    assert refusal(content) is not None


def test_a_variant_says_what_all_say():
    content = first_with("box", lambda c: "variants" in c and c["rules"])
    changed = copy.deepcopy(content)
    changed["variants"][0]["rules"][0]["warrant"] = {"kind": "open"}
    assert "are not those of all variants" in refusal(changed)
    changed = copy.deepcopy(content)
    changed["variants"][1]["certificate"]["answered"][0] -= 1
    assert "questions were answered" in refusal(changed)
    changed = copy.deepcopy(content)
    changed["variants"][1]["certificate"]["sift"]["live"] += 1
    assert "certificate: live is" in refusal(changed)


# --- hostile files ---


HOSTILE = [
    (("sift", "candidates"), 10**18),
    (("sift", "live"), -(10**18)),
    (("sift", "conditions"), 50),
    (("sift", "conditions"), 10**18),
    (("sift", "conditions"), -3),
    (("sift", "conditions"), 2.5),
    (("sift", "conditions"), True),
    (("sift", "epsilon"), float("nan")),
    (("sift", "epsilon"), float("inf")),
    (("sift", "epsilon"), 1e-300),
    (("sift", "epsilon"), 0),
    (("sift", "epsilon"), "0.05"),
    (("sift", "delta"), 1e-320),
    (("sift", "delta"), 10**400),
    (("sift", "spare"), -1.0),
    (("sift", "spare"), float("nan")),
    (("sift", "seed"), -1),
    (("sift", "seed"), 10**4000),
    (("sift", "seed"), None),
    (("sift", "order"), [0] * 10),
    (("sift", "order"), [-1]),
    (("sift", "order"), [10**30]),
    (("sift", "order"), None),
    (("sift", "draws"), [[10**18, 0, 0]]),
    (("sift", "draws"), [[0, -1, 0]]),
    (("sift", "draws"), [[0]]),
    (("sift", "draws"), [["0", 0, 0]]),
    (("sift", "curve"), [[10**18, 0]]),
    (("sift", "curve"), [[0, 10**18]]),
    (("sift", "curve"), [[1]]),
    (("sift", "families"), {}),
    (("sift", "families", 0, "at"), 10**18),
    (("sift", "families", 0, "at"), -1),
    (("sift", "families", 0, "delta"), 0.0),
    (("sift", "families", 0, "rules"), []),
    (("sift", "families", 0, "rules"), [{"if": ["nobody"], "then": None}]),
    (("sift", "families", 0, "rules"), [{"if": [], "then": ["a0 ≥ v1", "a1 ≥ v1"]}]),
    (("sift", "families", 0, "bases"), [{"rule": 10**18}]),
    (("sift", "families", 0, "bases"), [{"rule": -1}]),
    (("sift", "families", 0, "bases"), [{"if": ["q"]}]),
    (("sift", "almost"), [{"if": [], "then": None}]),
    (("sift", "more_often"), [{}]),
    (("rules", 0, "warrant"), {"kind": "tested", "tested": 10**18, "bound": 1e-18}),
    (("rules", 0, "warrant"), {}),
    (("open"), None),
    (("certificate", "open"), 10**18),
    (("certificate", "sift"), []),
    (("certificate", "rules"), 10**18),
]


@pytest.mark.parametrize(("path", "value"), HOSTILE)
def test_hostile_figures_are_one_clear_refusal(path, value):
    content = first_with("ordered", has_tested)
    path = (path,) if isinstance(path, str) else path
    at(content, path[:-1])[path[-1]] = value
    for clever in (False, True):
        if clever:
            try:
                agree(content)
            except (TypeError, KeyError, AttributeError):
                return
            if at(content, path) != value and value == value:
                return  # it was put right
        start = time.perf_counter()
        wrong = refusal(content)
        assert wrong is not None and "\n" not in wrong and len(wrong) < 500, wrong
        assert time.perf_counter() - start < 20


def test_a_million_fixed_rules_are_refused():
    content = first_with("ordered", has_tested)
    content["sift"]["families"][0]["rules"] *= 1_000_000
    start = time.perf_counter()
    assert "too many to check" in refusal(content)
    assert time.perf_counter() - start < 20


def test_a_sift_of_too_many_rules_is_refused():
    """50 conditions on 60 attributes: nobody goes through these."""
    content = first_with("ordered", has_tested)
    names = [f"b{i}" for i in range(60)]
    content["space"]["attributes"] += [{"name": n, "values": [n]} for n in names]
    label = content["space"]["label"]["values"]
    content["variables"] = [*(v for v in content["variables"] if v not in label), *names, *label]
    content["sift"]["conditions"] = 50
    agree(content)
    assert "too many to be gone through again" in refusal(content)
