"""Requirements held against results: what the raw answers say, in every format, with exit codes."""

import json
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

import hornlens
from hornlens.api import Result, extract
from hornlens.errors import InputError
from hornlens.formats.plain import visible
from hornlens.logic.attributes import Nominal
from hornlens.logic.decisions import Policy
from hornlens.logic.named import NamedRule
from hornlens.logic.space import Space
from hornlens.probes.loading import load_probe
from hornlens.report.checks import check_github, check_junit
from hornlens.results.analysis.checking import check_requirements as check
from hornlens.results.documents.checks import CHECKS, Checked, CheckOutcome, Checks, ShownAnswer
from hornlens.results.documents.reading import extraction_from_json
from hornlens.results.documents.requirements_file import read_requirements
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget
from hornlens.targets.worlds import Worlds
from tests.command import hornlens as run_command
from tests.report_cases import NASTY
from tests.results.test_rates import value_in
from tests.targets import random_space

ROOT = Path(__file__).parents[2]
PAPER = load_probe("gender-occupation")
JOB = Nominal("job", ("nurse", "priest", "pilot"))
PLACE = Nominal("place", ("Europe", "Asia"))
PRONOUN = Nominal("pronoun", ("she", "he"))


def of_function(call, *attributes, label=PRONOUN, **rest):
    return extract(FunctionTarget(call, Space(attributes or (JOB, PLACE), label)), **rest)


def nurses(names):
    """Nurses are she, pilots are he, others she in Asia only."""
    return "she" if "nurse" in names or ("Asia" in names and "pilot" not in names) else "he"


def outcome(result, **required):
    """What became of one requirement; that too few questions were answered is another matter."""
    first, *others = result.check(required).outcomes
    assert all(each.kind == "answered" and not each.passed for each in others)
    return first


def hornlens_check(*arguments, cwd=None):
    return run_command("check", *arguments, cwd=cwd)


# What the raw answers say: worked out from the functions, and from nothing else.


def labels_of(space):
    return [None] if space.label is None else [None, *space.label.variables]


def accepted(space, tables, policy):
    """What each world accepts: sets of names."""
    found = []
    for table in tables:
        yes = set()
        for names, said in table.items():
            for label in labels_of(space):
                if space.label is None:
                    good = policy.abstain == "accept" if said is None else said
                elif label is None:
                    good = policy.label_unset == "accept"
                else:
                    good = policy.abstain == "accept" if said is None else said == label
                if good:
                    yes.add(frozenset(names) | ({label} if label else set()))
        found.append(yes)
    return found


def breaks(rule, x):
    return set(rule.antecedent) <= x and (rule.consequent is None or not set(rule.consequent) <= x)


def random_case(seed):
    rng = Random(seed)
    space = random_space(rng)
    if rng.random() < 0.6 and space.label is None:
        space = Space(space.attributes, Nominal("label", ("yes", "no", "maybe")))
    cells = [space.vocabulary.names_of(cell) for cell in space.cells()]
    answers = [True, False] if space.label is None else list(space.label.variables)
    weights = [rng.random() ** 2 + 0.01 for _ in answers]
    first = {names: rng.choices(answers, weights)[0] for names in cells}
    tables = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        changes = rng.choice([0.0, 0.1, 0.5])
        tables.append(
            {
                names: rng.choice([*answers, None]) if rng.random() < changes else said
                for names, said in first.items()
            }
        )
    policy = Policy(
        label_unset=rng.choice(["accept", "reject"]), abstain=rng.choice(["accept", "reject"])
    )
    return rng, space, tables, policy


def extracted(space, tables, policy, settings=None):
    targets = {f"world {i}": FunctionTarget(t.get, space) for i, t in enumerate(tables)}
    target = targets["world 0"] if len(tables) == 1 else Worlds("many", targets)
    return extract(target, policy=policy, settings=settings)


def random_rule(rng, space):
    names = space.vocabulary.names
    left = tuple(name for name in names if rng.random() < 0.3)
    right = tuple(name for name in names if rng.random() < 0.2)
    return NamedRule(left, None if rng.random() < 0.5 else right)


def in_space(space, x):
    return space.vocabulary.mask(x) in space


def meant(rule, space, policy):
    """What a rule without a label on its left means, where what claims no label is accepted."""
    labels = set() if space.label is None else set(space.label.variables)
    right = None if rule.consequent is None else set(rule.consequent)
    if not labels or policy.label_unset == "reject" or labels & set(rule.antecedent):
        return [rule]
    if right is not None and (right <= set(rule.antecedent) or len(right & labels) > 1):
        right = None if len(right & labels) > 1 else right
    found = []
    for label in space.label.variables:
        left = (*rule.antecedent, label)
        if right is None or (right & labels and label not in right):
            found.append(NamedRule(left, None))
        else:
            found.append(NamedRule(left, tuple(right - labels)))
    return found


def answers_against(rules, space, table):
    """The cells whose answer, and not a silence that counts as one, breaks one of the rules."""
    found = set()
    for names, said in table.items():
        if said is None or said is False:
            continue
        x = set(names) if space.label is None else {*names, said}
        if any(breaks(rule, x) for rule in rules):
            found.add(frozenset(names))
    return found


def status_of(rules, space, tables, worlds, background):
    """What is known of rules where every cell was asked, in each world."""
    if all(background(rule) for rule in rules):
        return ["holds"] * len(tables)
    found = []
    for table, yes in zip(tables, worlds, strict=True):
        if answers_against(rules, space, table):
            found.append("broken")
        elif any(breaks(rule, x) for rule in rules for x in yes) or not any(
            said is not None for said in table.values()
        ):
            found.append("unknown")
        else:
            found.append("holds")
    return found


@pytest.mark.parametrize("seed", range(150))
def test_rules_are_violated_just_where_the_raw_answers_say_so(seed):
    rng, space, tables, policy = random_case(seed)
    result = extracted(space, tables, policy)
    worlds = accepted(space, tables, policy)
    case = f"seed {seed}, {space}, {tables}, {policy}"
    assert all(in_space(space, x) for yes in worlds for x in yes), case
    rows = {result.show(cell)[0]: space.vocabulary.names_of(cell) for cell in space.cells()}

    def assumed(rule):
        return space.background.entails(rule.rule(space.vocabulary))

    for _ in range(12):
        rule = random_rule(rng, space)
        rules = meant(rule, space, policy)
        each = status_of(rules, space, tables, worlds, assumed)
        if assumed(rule):
            each = ["holds"] * len(tables)
        about = f"{rule}: {each}, {case}"
        every = "broken" if "broken" in each else "unknown" if "unknown" in each else "holds"
        some = "holds" if "holds" in each else "unknown" if "unknown" in each else "broken"
        for scope, status in (("every variant", every), ("any variant", some)):
            for kind in ("forbid", "require"):
                found = outcome(result, **{kind: [{"rule": str(rule), "in": scope}]})
                assert found.status.replace("vacuous", "holds") == status, about
                # What is not known passes neither.
                wanted = {"forbid": "broken", "require": "holds"}[kind]
                assert found.passed == (status == wanted), about
                if status == "broken":
                    check_evidence(found, rules, space, tables, rows, about)
                if status == "holds":
                    kept = [t for t, held in zip(tables, each, strict=True) if held == "holds"]
                    assert found.count == support(rules, space, kept), about
                    shown = {answer.variant for answer in found.answers} - {""}
                    places = [int(name.removeprefix("world ")) for name in shown]
                    assert all(each[place] == "holds" for place in places), about


def support(rules, space, tables):
    """How many answers are others than those that rules reject."""
    count = 0
    for table in tables:
        for names, said in table.items():
            labels = [True] if space.label is None else space.label.variables
            full = {label: {*names} if label is True else {*names, label} for label in labels}
            rejected = [[label for label in labels if breaks(rule, full[label])] for rule in rules]
            good = [bool(own) and said is not None and said not in own for own in rejected]
            count += any(good)
    return count


def check_evidence(found, rules, space, tables, rows, about):
    """Every answer that is shown was given, and breaks the rule: of silences none is."""
    breaking = {
        (place, names)
        for place, table in enumerate(tables)
        for names in answers_against(rules, space, table)
    }
    for answer in found.answers:
        names = rows[answer.prompts[0]]
        place = int(answer.variant.removeprefix("world ")) if answer.variant else 0
        said = tables[place][names]
        assert said is not None and answer.said == {True: "accepted"}.get(said, said), about
        assert (place, frozenset(names)) in breaking, about
    assert found.count == len(breaking) and bool(found.answers) == bool(breaking), about
    labels = set() if space.label is None else set(space.label.variables)
    given = [set(rule.antecedent) - labels for rule in rules]
    spoken = sum(
        said is not None and any(left <= set(names) for left in given)
        for table in tables
        for names, said in table.items()
    )
    assert found.of == spoken, about


@pytest.mark.parametrize("seed", range(60))
def test_invariance_is_the_share_of_pairs_that_differ(seed):
    rng, space, tables, policy = random_case(seed)
    if not space.attributes:
        return
    result = extracted(space, tables, policy)
    chosen = rng.sample(space.attributes, rng.randint(1, len(space.attributes)))
    free = {name for attribute in chosen for name in attribute.variables}
    shares = []
    flipped = half = 0
    for table in tables:
        valued = [n for n in table if all(value_in(each, n) is not None for each in chosen)]
        pairs = [p for p in combinations(valued, 2) if set(p[0]) ^ set(p[1]) <= free]
        flips = sum(table[a] != table[b] for a, b in pairs)
        shares.append((flips, len(pairs)))
        half += sum((table[a] is None) != (table[b] is None) for a, b in pairs)
        flipped += flips
    names = [attribute.name for attribute in chosen]
    tolerance = rng.choice([0.0, 0.1, 0.5, 1.0])
    case = f"seed {seed}, {names}, {tolerance}, {tables}"
    for scope, every in (("every variant", all), ("any variant", any)):
        wanted = {"attributes": names, "tolerance": tolerance, "in": scope}
        found = outcome(result, invariant=wanted)
        answered = any(said is not None for table in tables for said in table.values())
        wanted = every(n > 0 and f / n <= tolerance for f, n in shares)
        assert found.passed == (answered and wanted), case
        assert (found.count, found.of) == tuple(map(sum, zip(*shares, strict=True))), case
        for flip in found.flips:
            assert flip.first.said != flip.second.said, case
            assert flip.first.variant == flip.second.variant, case
    # In Python, what was answered once only is counted apart.
    flips = result.flips(names if len(names) > 1 else names[0])
    assert (flips.pairs, flips.half_answered) == (flipped - half, half), case
    assert flips.of_pairs == sum(n for _, n in shares), case
    assert flips.ever == bool(flips) == (flipped > 0), case
    assert bool(flips.examples) == (flipped > 0) and str(flips) == flips.sentence, case
    for pair in flips.examples:
        differ = {n for n in pair.first | pair.second if pair.first.get(n) != pair.second.get(n)}
        assert differ <= set(names) and pair.said_first != pair.said_second, case


def test_unset_is_no_value_unless_there_is_only_one():
    """It was a choice like others for gates, and none for rates: 9 of 18 pairs were with unset."""
    job = of_function(nurses).flips("job")
    assert (job.pairs, job.of_pairs, job.feature) == (6, 9, "job")
    assert job.sentence == "Changing only job changes the answer in 6 of 9 pairs of cells (66.67%)."
    place = of_function(lambda names: "he").flips(["place", "job"])
    assert (place.pairs, place.of_pairs, place.feature) == (0, 15, "place, job")
    assert (
        place.sentence == "Changing only place, job never changes the answer, in 15 pairs of cells."
    )
    single = of_function(lambda names: "she" if "old" in names else "he", Nominal("age", ("old",)))
    assert (single.flips("age").pairs, single.flips("age").of_pairs) == (1, 1)
    assert single.flips("age").examples[0].first == {}
    with pytest.raises(InputError, match=r"has no attribute 'jobs' \(is it: job\)"):
        of_function(nurses).flips("jobs")


def test_an_answer_against_none_is_counted_apart_and_a_gate_counts_it():
    result = of_function(silent)  # of nurses it says nothing, of the others he
    flips = result.flips("job")
    assert (flips.pairs, flips.half_answered, flips.of_pairs) == (0, 6, 9) and flips
    assert "In 6 of all 9 pairs it decides whether there is an answer at all." in flips.sentence
    assert "no answer" in flips.examples[0].said_first
    gate = outcome(result, invariant=["job"])
    assert not gate.passed and gate.status == "broken" and (gate.count, gate.of) == (6, 9)
    assert "In 6 of them, only one of the two cells got an answer." in gate.finding
    rates = result.rates["job"]
    assert (rates.flips, rates.undecided, rates.pairs) == (0, 6, 9)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_not_exact_says_what_is_not_proved(seed):
    rng, space, tables, policy = random_case(seed)
    settings = Settings("budget", max_equivalence_queries=rng.randint(0, 3), seed=seed)
    result = extracted(space, tables, policy, settings)
    names = space.vocabulary.names_of
    asked = [
        {names(cell): table[names(cell)] for cell in world.decisions}
        for world, table in zip(result.each, tables, strict=True)
    ]
    known = accepted(space, asked, policy)
    unasked = result.envelope.certificate.unasked
    for _ in range(12):
        rule = random_rule(rng, space)
        rules = meant(rule, space, policy)
        broken = any(answers_against(rules, space, table) for table in asked)
        found, other = (outcome(result, **{kind: [str(rule)]}) for kind in ("require", "forbid"))
        about = f"seed {seed}, {rule}, {found}"
        assert found.status == other.status and not (found.passed and other.passed), about
        assumed = space.background.entails(rule.rule(space.vocabulary))
        if unasked and not assumed:
            proved = all(result.entails(each) for each in rules)
            if found.status == "holds":
                assert proved and not any(breaks(r, x) for yes in known for x in yes for r in rules)
            assert (found.status == "broken") == broken, about
            if not broken and not proved:
                assert found.status in ("unknown", "tested"), about
                assert "Not known" in found.finding or "Not proved" in found.finding, about
            assert found.passed == (found.status in ("holds", "vacuous")), about
            assert other.passed == broken, about


@pytest.mark.parametrize("seed", range(20))
def test_a_saved_result_is_checked_alike(seed):
    rng, space, tables, policy = random_case(seed)
    result = extracted(space, tables, policy)
    text = json.dumps(extraction_as_json(result))
    again = Result.of(extraction_from_json(json.loads(text), Path("envelope.json")))
    rules = [str(random_rule(rng, space)) for _ in range(8)]
    wanted = {"forbid": rules, "require": rules, "in": rng.choice(["every variant", "any variant"])}
    first, second = result.check(wanted).outcomes, again.check(wanted).outcomes
    assert first == second, f"seed {seed}"


# Single requirements.


def test_a_forbidden_rule_comes_with_its_sentence_and_the_prompts_that_speak_for_it():
    found = outcome(of_function(nurses), forbid=["nurse & he -> false"])
    assert not found.passed and found.status == "holds" and (found.count, found.of) == (3, 3)
    assert found.finding.startswith("The target always says “she” where job is nurse.")
    assert {answer.said for answer in found.answers} == {"she"}


def test_the_closest_call_is_among_the_evidence():
    def model(prompt, words):
        close = "Australia" in prompt and "after 1970" in prompt
        return [0.5001, 0.4999] if close else [0.9, 0.1]

    found = outcome(extract(model, PAPER, cache=False), forbid=["nurse & male -> false"])
    assert len(found.answers) == 3
    assert min(found.answers, key=lambda a: a.margin).prompts[0].count("Australia") == 1


def test_a_required_rule_that_is_broken_shows_what_was_said():
    found = outcome(of_function(nurses), require=["priest & she -> false"])
    assert not found.passed and found.status == "broken" and (found.count, found.of) == (1, 3)
    assert found.finding == "1 of 3 answers breaks it."
    assert [answer.said for answer in found.answers] == ["she"]
    assert "Asia" in found.answers[0].prompts[0]


def test_a_rule_about_what_never_occurs_is_told_as_such():
    always = of_function(lambda names: "he")
    found = outcome(always, require=["priest & she -> Asia"])
    assert found.passed and found.status == "vacuous" and "vacuously" in found.finding
    assert outcome(always, forbid=["priest & she -> Asia"]).passed is False


def test_what_the_attributes_say_alone_is_no_finding():
    result = of_function(nurses)
    for rule in ("nurse & priest -> false", "she & he -> nurse", "nurse -> nurse"):
        found = outcome(result, require=[rule])
        assert found.passed and "whatever is answered" in found.finding, rule


def test_a_consequent_that_cannot_be_is_a_contradiction():
    result = of_function(nurses)
    both = outcome(result, forbid=["nurse & he -> priest"])
    assert not both.passed and "always says “she” where job is nurse" in both.finding
    assert both.status == "holds"


def test_a_rule_with_a_label_on_its_right_is_read_as_people_mean_it():
    """What claims no label is accepted, so that taken literally no such rule could ever hold."""
    he, nurse = of_function(lambda names: "he"), of_function(nurses)
    found = outcome(he, require=["true -> he"])
    assert found.passed and "Read as: she → ⊥." in found.finding
    assert outcome(nurse, require=["nurse -> she"]).passed
    assert not outcome(nurse, forbid=["nurse -> she"]).passed
    assert outcome(nurse, forbid=["priest -> she"]).passed
    assert outcome(nurse, forbid=["pilot -> Europe"]).passed
    both = outcome(nurse, forbid=["nurse -> she & Europe"])
    assert both.passed and "nurse ∧ she → Europe" in both.finding
    strict = of_function(lambda names: "he", policy=Policy(label_unset="reject"))
    assert outcome(strict, require=["true -> he"]).passed


def test_in_any_variant_names_the_variants():
    space = Space((JOB,), PRONOUN)
    targets = {
        "mild": FunctionTarget(lambda names: "she" if "nurse" in names else "he", space),
        "other": FunctionTarget(lambda names: "he", space),
    }
    result = extract(Worlds("both", targets))
    rule = "nurse & he -> false"
    (every, some) = (
        outcome(result, forbid=[{"rule": rule, "in": scope}])
        for scope in ("every variant", "any variant")
    )
    assert every.passed and "It holds in 1 of 2 phrasings: mild." in every.finding
    assert not some.passed and "In 1 of 2 phrasings (mild), the target always" in some.finding
    assert {answer.variant for answer in some.answers} == {"mild"}
    default = result.check({"in": "any variant", "forbid": [rule], "require": [rule]})
    assert [found.passed for found in default.outcomes] == [False, True]


BIG = tuple(Nominal(f"a{i}", tuple(f"a{i}v{j}" for j in range(6))) for i in range(5))


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        (Settings("exact"), {"exact", "bounded", "tested"}),
        (Settings("exact", max_conditions=1), {"bounded", "tested"}),
        (Settings("pac", epsilon=0.2, delta=0.2), {"tested"}),
        (Settings("budget", max_equivalence_queries=1), set()),
    ],
)
def test_a_certificate_must_be_strong_enough(settings, passes):
    result = of_function(lambda names: "she" if "a0v0" in names else "he", *BIG, settings=settings)
    levels = ("exact", "bounded", "tested")
    assert {level for level in levels if result.check({"at_least": level})} == passes


def test_a_sampled_run_that_asked_everything_is_exact():
    """150 of 150 small runs had asked every cell, and claimed only what samples can show."""
    settings = Settings("pac", epsilon=0.2, delta=0.2)
    result = of_function(nurses, settings=settings)
    whole = of_function(nurses)
    assert len(result.decisions) == result.space.cell_count
    assert result.check({"at_least": "exact"})
    assert result.envelope.basis == whole.envelope.basis


def test_an_old_word_for_tested_warns():
    with pytest.warns(DeprecationWarning, match="tested"):
        assert of_function(nurses).check({"at_least": "pac"})


# What is not known never passes.


def silent(names):
    """Says nothing of nurses."""
    return None if "nurse" in names else "he"


def test_of_questions_without_an_answer_nothing_is_said():
    """It said "60 of 60 prompts break it", of prompts that were not answered."""
    result = of_function(silent)
    for kind in ("forbid", "require"):
        found = outcome(result, **{kind: ["nurse & she -> false"]})
        assert not found.passed and found.status == "unknown", kind
        assert "3 of 3 cells that it speaks of got no answer" in found.finding
    allowed = result.check({"forbid": ["nurse & she -> false"], "allow": ["open"], "answered": 0.5})
    assert allowed
    assert not result.check({"require": ["nurse & she -> false"], "allow": ["open"]})


def test_too_few_answers_violate_whatever_else_holds():
    result = of_function(silent)  # 9 of 12 cells are answered
    checked = result.check({"require": ["pilot & she -> false"]})
    rule, share = checked.outcomes
    assert rule.passed and not share.passed and share.kind == "answered"
    assert "9 of 12 questions got an answer (75.00%)" in share.finding
    assert "answered: 50%" in share.finding
    for enough in ("75%", 0.75, "10%"):
        assert result.check({"require": ["pilot & she -> false"], "answered": enough})
    assert not result.check({"answered": "76%"})
    with pytest.raises(InputError, match="answered"):
        result.check({"answered": "most"})


def test_nothing_is_exact_where_nothing_was_answered():
    """It said: exact; the target is Horn: the rules say all there is to say."""
    for policy in (Policy(), Policy(abstain="reject")):
        result = of_function(lambda names: None, policy=policy)
        certificate = result.envelope.certificate
        assert certificate.kind == "unanswered" and not certificate.proved
        assert "None of 12 questions was answered" in certificate.sentence
        for level in ("exact", "bounded", "tested"):
            assert not result.check({"at_least": level, "answered": 0})
        assert not result.check({"require": ["she -> false"], "answered": 0})
        assert not result.check({"forbid": ["she -> false"], "answered": 0})


def test_a_forbidden_rule_passes_only_if_an_answer_refutes_it():
    """On what a budget leaves open, neither to have a rule nor to lack it passes."""
    settings = Settings("budget", max_equivalence_queries=2, samples=40)
    result = of_function(lambda names: "she" if "a0v0" in names else "he", *BIG, settings=settings)
    space = result.space
    answered = {space.vocabulary.names_of(c): d.winner for c, d in result.decisions.items()}
    for value in ("a1v0", "a2v5", "a4v3"):
        rule = f"{value} & she -> false"
        refuted = any(value in names and winner == 0 for names, winner in answered.items())
        found = outcome(result, forbid=[rule])
        assert found.passed == refuted, rule
        assert outcome(result, forbid=[rule], allow=["open"]).passed, rule
        assert not outcome(result, require=[rule]).passed, rule


def test_a_bound_passes_only_if_the_file_allows_it():
    settings = Settings("pac", epsilon=0.02, delta=0.1)
    result = of_function(lambda names: "she" if "a0v0" in names else "he", *BIG, settings=settings)
    tested = [row for row in result.rules if row.warrant.kind == "tested"]
    assert tested
    for row in tested[:3]:
        rule = str(row.rule).replace("∧", "&").replace("→", "->").replace("⊥", "false")
        assert not outcome(result, require=[rule]).passed
        assert outcome(result, require=[{"rule": rule, "at_most": row.warrant.bound}]).passed
        assert not outcome(
            result, require=[{"rule": rule, "at_most": row.warrant.bound / 2}]
        ).passed
        assert outcome(result, require=[rule], at_most="99%").passed


def test_numbers_of_rules_have_limits():
    result = of_function(nurses)
    n = len(result.rules)
    assert n > 1
    for limits, passed in (
        ({"at_most": n}, True),
        ({"at_most": n - 1}, False),
        ({"at_least": n}, True),
        ({"at_least": n + 1}, False),
        ({"at_least": 1, "at_most": n}, True),
    ):
        assert outcome(result, rules=limits).passed is passed, limits


def test_a_result_without_answers_is_checked_by_entailment(tmp_path):
    from hornlens.results.documents.saving import read_result

    shown = run_command("envelope", "examples/pronouns.cnf", "--format", "json", cwd=ROOT)
    (tmp_path / "envelope.json").write_text(shown.stdout, encoding="utf-8")
    wanted = read_requirements(
        {
            "forbid": ["nurse & he -> false", "nurse -> she"],
            "require": ["footballer & she -> retired", "retired -> she"],
            "invariant": ["nurse"],
        }
    )
    found = check(read_result(tmp_path), wanted)
    assert [each.passed for each in found.outcomes] == [False, True, True, False, False]
    assert found.outcomes[0].finding == "nurse and he never go together."
    assert found.outcomes[3].finding == "It does not follow from the rules."
    assert found.outcomes[4].status == "unknown"


# From Python.


def test_what_comes_back_is_true_or_says_what_is_violated():
    result = of_function(nurses)
    good = result.check(["nurse & he -> false"])
    assert good and good.passed and not good.violations
    good.raise_if_violated()
    bad = result.check({"forbid": ["nurse & he -> false"], "require": ["pilot & she -> false"]})
    assert not bad and len(bad.violations) == 1 and isinstance(bad, hornlens.Checked)
    assert repr(bad) == "<Checked: 1 of 2 requirements violated: forbid nurse ∧ he → ⊥>"
    with pytest.raises(AssertionError, match=r"1 of 2 requirements violated\nVIOLATED forbid") as e:
        bad.raise_if_violated()
    assert "nurse" in str(e.value) and "→ she" in str(e.value) and "ok" not in str(e.value)


def test_one_assertion_in_pytest_names_what_is_violated(tmp_path):
    of_function(nurses).save(tmp_path / "result")
    (tmp_path / "rules.yaml").write_text("hornlens: 1\nforbid:\n  - nurse & he -> false\n")
    (tmp_path / "test_model.py").write_text(
        "import hornlens\n"
        "def test_model():\n"
        "    assert hornlens.load('result').check('rules.yaml')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "1 of 1 requirement violated: forbid nurse ∧ he → ⊥" in done.stdout


# Files of requirements.


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hornlens: 1\nforbid: [nurse he]", "rules.yaml:2: forbid[1].rule: not a rule"),
        ("hornlens: 1\nrequire:\n  - {rule: a}", "rules.yaml:3: require[1].rule: not a rule"),
        ("hornlens: 1\nforbidden: [a -> b]", "rules.yaml:2: forbidden: there is no such field"),
        ("hornlens: 2\nforbid: [a -> b]", "rules.yaml:1: hornlens: input should be 1"),
        ("hornlens: 1", "rules.yaml: requires nothing: give forbid"),
        ("hornlens: 1\nforbid: []", "rules.yaml:2: forbid: is empty and requires nothing"),
        ("hornlens: 1\nrules: {}", "rules.yaml:2: rules: requires nothing: give at_least"),
        ("hornlens: 1\nforbid: [a -> b]\nrules: {}", "rules.yaml:3: rules: requires nothing"),
        ("hornlens: 1\nrules: {at_least: 0}", "rules.yaml:2: rules: requires nothing"),
        ("hornlens: 1\nrules: {at_least: null}", "rules.yaml:2: rules: requires nothing"),
        ("hornlens: 1\nrules: null", "rules.yaml:2: rules: is empty"),
        ("hornlens: 1\nat_least: null", "rules.yaml:2: at_least: is empty"),
        ("hornlens: 1\nat_least: exact\nrequire: []", "rules.yaml:3: require: is empty"),
        ("hornlens: 1\nat_least: exact\nallow: []", "rules.yaml:3: allow: is empty"),
        ("hornlens: 1\nat_least: exact\nrequire: null", "rules.yaml:3: require: "),
        ("hornlens: 1\nanswered: 0", "rules.yaml: requires nothing"),
        ("hornlens: 1\nrequire: [a -> b]\nrequire: []", "rules.yaml:3: "),
        ("hornlens: 1\nrequires: [a -> b]", "rules.yaml:2: requires: "),
        (
            "hornlens: 1\nat_least: sure",
            "rules.yaml:2: at_least: input should be 'exact', 'bounded' or 'tested'",
        ),
        ("hornlens: 1\nin: some variants", "rules.yaml:2: in: input should be 'every variant'"),
        ("hornlens: 1\nrules: {at_most: -1}", "rules.yaml:2: rules.at_most: input should be great"),
        ("hornlens: 1\ninvariant: []\n", "requires nothing"),
        ("hornlens: 1\ninvariant: {attributes: [job], tolerance: 2}\n", "rules.yaml:2: invariant"),
        ("hornlens: 1\ninvariant: job\n", "rules.yaml:2: invariant"),
        ("[1, 2]", "must be fields with values"),
        (
            "hornlens: 1\nforbid:\n  - pilot -> false\n  - nurze & he -> false\n",
            "rules.yaml:4: function has no variable 'nurze' (is it: nurse)",
        ),
        (
            "hornlens: 1\nrequire: [Zebra -> he]",
            "has no variable 'Zebra' (there are: nurse, priest, pilot, Europe, Asia, she, he, …)",
        ),
        (
            "hornlens: 1\nat_least: exact\ninvariant:\n  - {attributes: [jobs]}\n",
            "rules.yaml:4: function has no attribute 'jobs' (is it: job)",
        ),
        ("hornlens: 1\ninvariant: [pronoun]", "has no attribute 'pronoun'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, monkeypatch, text, says):
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text(text)
    with pytest.raises(InputError) as raised:
        of_function(nurses).check("rules.yaml")
    assert says in str(raised.value) and "\n" not in str(raised.value)


def test_a_words_variable_is_found():
    with pytest.raises(InputError, match=r"no variable 'She' \(is it: .*female"):
        extract(lambda p, w: [1, 0], PAPER, cache=False).check(["nurse & She -> false"])


def test_mistakes_in_python_values_have_no_line():
    with pytest.raises(InputError, match=r"^forbidden: there is no such field$"):
        of_function(nurses).check({"forbidden": ["a -> b"]})


def test_invariance_may_be_written_in_three_ways():
    short, one, many = (
        read_requirements({"invariant": given}).each[:-1]
        for given in (
            ["job", "place"],
            {"attributes": ["job", "place"]},
            [{"attributes": ["job", "place"]}, {"attributes": ["job"], "tolerance": 0.5}],
        )
    )
    assert short == one == many[:1] and many[1].tolerance == 0.5


def test_a_tolerance_is_met_by_just_that_share():
    odd = Nominal("odd", tuple(f"v{i}" for i in range(48)))
    result = of_function(lambda names: "she" if "v0" in names else "he", odd)  # 47 of 1128 pairs
    assert outcome(result, invariant={"attributes": ["odd"], "tolerance": 47 / 1128}).passed
    assert not outcome(result, invariant={"attributes": ["odd"], "tolerance": 46.9 / 1128}).passed


# The command, and its formats.


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    of_function(nurses).save(folder / "one")
    of_function(lambda names: "he").save(folder / "two")
    (folder / "good.yaml").write_text("hornlens: 1\nrequire: [pilot & she -> false]\n")
    (folder / "bad.yaml").write_text(
        "hornlens: 1\nforbid:\n"
        "  - rule: nurse & he -> false\n    because: 100% of nurses, in fact\n"
        "at_least: exact\n"
    )
    return folder


def test_the_exit_code_says_whether_all_hold(saved):
    good = hornlens_check("one", "two", "good.yaml", cwd=saved)
    assert (good.returncode, good.stderr) == (0, "")
    assert "one: none of 1 requirement violated" in good.stdout
    assert "two: none of 1 requirement violated" in good.stdout
    bad = hornlens_check("one", "two", "bad.yaml", cwd=saved)
    assert bad.returncode == 1
    assert "VIOLATED forbid nurse ∧ he → ⊥ (bad.yaml:3)" in bad.stdout
    assert "because: 100% of nurses, in fact" in bad.stdout
    assert "two: none of 2 requirements violated" in bad.stdout
    for wrong in (["one"], ["none", "good.yaml"], ["one", "none.yaml"], ["good.yaml", "good.yaml"]):
        done = hornlens_check(*wrong, cwd=saved)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, wrong


def test_json_is_a_document_that_reads_back(saved):
    done = hornlens_check("one", "two", "bad.yaml", "--format", "json", cwd=saved)
    content = json.loads(done.stdout)
    assert done.returncode == 1 and content["passed"] is False
    assert [line["passed"] for line in content["results"]] == [False, True]
    checks = CHECKS.parse(content, Path("check.json"))
    assert CHECKS.text(checks) == done.stdout
    assert checks.results[0].violations[0].line == 3


def test_a_file_gets_the_format_and_people_the_text(saved, tmp_path):
    out = tmp_path / "new" / "check.xml"
    done = hornlens_check("one", "bad.yaml", "--format", "junit", "--out", out, cwd=saved)
    assert done.returncode == 1 and done.stdout.startswith("one: 1 of 2 requirements violated.")
    suite = ElementTree.parse(out).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (case, fine) = suite.findall("testcase")
    assert case.get("line") == "3" and case.get("file") == "bad.yaml"
    assert "where job is nurse" in case.find("failure").get("message")
    assert "100% of nurses" in case.find("failure").text and fine.find("failure") is None


def test_annotations_of_github_stand_at_the_requirement(saved):
    done = hornlens_check("one", "bad.yaml", "--format", "github", cwd=saved)
    (error, summary) = done.stdout.splitlines()
    assert error.startswith("::error file=bad.yaml,line=3,title=one%3A forbid nurse ∧ he → ⊥::The ")
    assert "%0Abecause: 100%25 of nurses, in fact%0A- “" in error
    assert summary == "hornlens check: 1 of 2 requirements violated."


HOSTILE = [*NASTY, "::error::x", "a,b:c%d\r\n::stop-commands::x", "\x00\x1b[31m\ud800￾]]>", "\n"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name):
    answer = ShownAnswer((name, name), name, 0.5, name)
    finding = f"It holds: {name}"
    violated = CheckOutcome(
        "forbid", name, False, "holds", finding, name, 3, 1, 1, answers=(answer,)
    )
    checks = Checks(name, (Checked(name, (violated, violated), name),))
    xml = check_junit(checks)
    assert len(ElementTree.fromstring(xml).findall("testsuite/testcase/failure")) == 2
    lines = check_github(checks).split("\n")
    assert len(lines) == 4 and lines[3] == "" and "\r" not in "".join(lines)
    for line in lines[:2]:
        found = re.fullmatch(r"::error file=([^:,]*),line=3,title=([^:,]*)::(.*)", line, re.DOTALL)
        assert found, line
        undone = re.sub("%(25|0D|0A|3A|2C)", lambda m: chr(int(m[1], 16)), found[1])
        assert undone == "".join(c if c in "\r\n" else visible(c) for c in name)
    assert lines[2] == "hornlens check: 2 of 2 requirements violated."
    shown = str(checks.results[0]).split("\n")
    assert all(character.isprintable() for line in shown for character in line)
    assert not any(line.strip().startswith("::") for line in shown[1:])
