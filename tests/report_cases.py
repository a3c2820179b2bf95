"""Results of every shape that a page has to cope with, from functions that stand for models."""

import math
from dataclasses import replace
from random import Random

from hornlens.api import extract
from hornlens.logic.attributes import Nominal
from hornlens.logic.decisions import Policy
from hornlens.logic.ordered import Ordered
from hornlens.logic.repeats import Repeats
from hornlens.logic.space import Space
from hornlens.logic.taxonomy import Taxonomy
from hornlens.models.functions import FunctionModel
from hornlens.probes.loading import load_probe
from hornlens.probes.probe import Label, LabelValue, Probe, ProbeAttribute, Value, Variant, numbered
from hornlens.results.documents.record import RUN, run_record
from hornlens.results.documents.settings import Settings
from hornlens.results.documents.writing import extraction_as_json
from hornlens.targets.functions import FunctionTarget
from tests import chat_cases, sifted_cases

PAPER = load_probe("gender-occupation")
NASTY = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "<!-- <script>",
    "\"quoted\" 'twice' & `ticked`",
    "\u202egnirts\u202c",
    "עברית",
    "__proto__",
    "a\u2028b\u2029c",
    "{{ 7 * 7 }} ${7 * 7} _x_^~\\",
)


def probe(name, template, attributes, labels, description=""):
    """A probe of plain words: {attribute: [values]} and {label name: word}."""
    return Probe(
        name=name,
        attributes=tuple(
            ProbeAttribute(a, tuple(Value(v, v) for v in values), Value("", f"no {a}"))
            for a, values in attributes.items()
        ),
        label=Label("label", tuple(LabelValue(n, w) for n, w in labels.items())),
        variants=numbered([template] if isinstance(template, str) else template),
        description=description,
    )


def planted(prompt, words):
    """Nurses are She; singers are She after 1970; else He."""
    she = "nurse" in prompt or ("singer" in prompt and "after 1970" in prompt)
    lead = 1 + Random(prompt).random()
    return {"She": lead if she else 0.0, "He": 0.0 if she else lead}


def noisy(prompt, words):
    """Leans, but keeps to nothing; the same for the same prompt."""
    rng = Random(prompt)
    return [rng.gauss(1.0 if "nurse" in prompt else 0.0, 1.0) for _ in words]


def demo():
    return extract("demo", PAPER, cache=False)


def strict():
    """Labels must be set, and narrow leads are abstentions that reject."""
    policy = Policy(label_unset="reject", abstain="reject", margin=0.3)
    return extract(noisy, PAPER, policy=policy, cache=False)


def abstaining():
    """The model will not say of bankers."""

    def model(prompt, words):
        return [-1.0, -1.0] if "banker" in prompt else planted(prompt, words)

    return extract(model, PAPER, cache=False)


def varying():
    """Of singers and dancers it says now this, now that; of nothing else."""
    rng = Random(16)

    def says(prompt, words):
        chance = 0.55 if "singer" in prompt or "dancer" in prompt else float("nurse" in prompt)
        return [1.0, 0.0] if rng.random() < chance else [0.0, 1.0]

    model = FunctionModel(says, "varying", sampled=True)
    return extract(model, PAPER, cache=False, repeats=Repeats(most=40))


def steady():
    """It could vary, and does not: all is decided."""
    model = FunctionModel(lambda p, w: [0.0, 1.0], "steady", sampled=True)
    question = probe("few", "It is {colour}, they said {label}.", {"colour": ["red", "blue"]},
                     {"good": "good", "bad": "bad"})  # fmt: skip
    return extract(model, question, cache=False, repeats=Repeats(most=40))


def pac():
    settings = Settings("pac", epsilon=0.15, delta=0.2, seed=0)
    return extract(planted, PAPER, settings=settings, cache=False)


def budget():
    settings = Settings("budget", max_equivalence_queries=8, seed=1)
    return extract(planted, PAPER, settings=settings, cache=False)


def learned():
    """What a learner took for true, as files of format 1 list it: answers break some of it."""
    result = budget()
    return replace(result, envelope=result.envelope.learned)


def tested():
    """Samples found no fault with the rules: one of them is tested by that, and others are open."""
    settings = Settings("pac", epsilon=0.1, delta=0.1, seed=0)
    return extract(tilted, PAPER, settings=settings, cache=False)


def tilted(prompt, words):
    """She is always a nurse; he is not, after 1970."""
    she = "nurse" in prompt and "after 1970" not in prompt
    return [1.0, 0.0] if she else [0.0, 1.0]


def empty():
    """A model that never decides: nothing is known of it."""
    return extract(lambda prompt, words: [0.0, 0.0], PAPER, cache=False)


def three_labels():
    """Three answers, and names like numbers, whose order JavaScript would lose."""
    question = probe(
        "three",
        "The {thing} in the {place} is {label}.",
        {"place": ["12", "3", "attic"], "thing": ["7", "cat", "dog", "1"]},
        {"10": "red", "2": "green", "blue": "blue"},
    )

    def model(prompt, words):
        if "cat" in prompt:
            return {"red": -1.0, "green": -2.0, "blue": -3.5}
        if "attic" in prompt:
            return {"red": -3.0, "green": -2.5, "blue": -0.5}
        return {w: Random(prompt + w).random() for w in words}

    return extract(model, question, cache=False)


def one_attribute():
    question = probe(
        "one", "It is {colour} and {label}.", {"colour": ["red", "blue"]}, {"g": "good", "b": "bad"}
    )
    return extract(lambda p, w: [1.0, 0.0] if "red" in p else [0.0, 2.5], question, cache=False)


def no_attribute():
    question = probe("none", "It is {label}.", {}, {"g": "good", "b": "bad"})
    return extract(lambda p, w: [1.0, 0.0], question, cache=False)


def infinite():
    """A model that holds some words for impossible."""
    question = probe(
        "endless",
        ("It is {colour} and {label}.", "So {colour}, so {label}."),
        {"colour": ["red", "blue"]},
        {"g": "good", "b": "bad"},
    )
    return extract(
        lambda p, w: [-math.inf, -1.0] if "red" in p else [-0.5, -2.0], question, cache=False
    )


COLOURS = Probe(
    name="colours",
    attributes=(
        ProbeAttribute("colour", (Value("red", "red"), Value("blue", "blue")), Value("", "grey")),
        ProbeAttribute("size", (Value("big", "big"), Value("small", "small")), Value("", "some")),
    ),
    label=Label("label", (LabelValue("g", "good"), LabelValue("b", "bad"))),
    variants=(
        Variant("plain", "The {size} {colour} one is {label}."),
        Variant("turned", "It is {label}, the {colour} {size} one."),
        Variant(
            "norsk",
            "Den er {size} og {colour} og {label}.",
            "nb",
            label=Label("label", (LabelValue("g", "god"), LabelValue("b", "slem"))),
        ),
    ),
)


def colours(prompt, words):
    """Red is good in any words; big is bad in two phrasings; the rest keeps to nothing."""
    lean = Random(prompt).uniform(-1, 1)
    if "big" in prompt and not prompt.startswith("It is"):
        lean = -2.0
    if "red" in prompt:
        lean = 3.0
    return [lean, 0.0]


def phrasings():
    """Three ways of asking, one with words of its own; rules that survive them, and others."""
    return extract(colours, COLOURS, cache=False)


def sampled_phrasings():
    """The same, of which not all was asked."""
    settings = Settings("budget", max_equivalence_queries=2, seed=2, samples=5)
    return extract(colours, COLOURS, settings=settings, cache=False)


def averaged():
    """The phrasings of one language, decided together."""
    question = replace(COLOURS, variants=COLOURS.variants[:2])
    return extract(colours, question, policy=Policy(phrasings="average"), cache=False)


def hostile():
    """Names, words and descriptions that try to get out of the page."""
    half = len(NASTY) // 2
    question = probe(
        NASTY[0],
        "It is {x} {<b>y</b>} and {label}." + NASTY[1].replace("'", ""),
        {"x": list(NASTY[:half]), "<b>y</b>": list(NASTY[half:])},
        {"</style><b>": "</title>", "g&amp;": NASTY[4]},
        description=" ".join(NASTY),
    )
    return extract(lambda p, w: noisy(p, w) if "twice" in p else [1, 0], question, cache=False)


PLACES = [("Europe", None), ("Germany", "Europe"), ("France", "Europe"), ("Asia", None)]
LOANS = Space(
    (
        Nominal("sex", ("female", "male")),
        Ordered.cut("age", ("30", "60")),
        Taxonomy.of("place", PLACES),
    ),
    Nominal("loan", ("granted", "refused")),
)


def loan(names):
    """What a bank says; None in a case that it leaves open."""
    if "Asia" in names and "female" in names:
        return None
    if "age < 30" in names and "Asia" not in names:
        return "refused"
    if "Europe" in names and "age ≥ 60" not in names:
        return "granted"
    return "granted" if len(names) % 3 else "refused"


def cells():
    """A target without prompts and scores, over attributes of every kind."""
    return extract(FunctionTarget(loan, LOANS, "bank"))


def sampled_cells():
    """The same, of which not all was asked."""
    settings = Settings("budget", max_equivalence_queries=4, seed=3)
    return extract(FunctionTarget(loan, LOANS, "bank"), settings=settings)


def scored_cells():
    """The same with scores, where it answers."""
    return extract(FunctionTarget(rate, LOANS, "bank"))


def rate(names):
    said = loan(names)
    return said and {
        "granted": 0.0,
        "refused": (1 if said == "refused" else -1) * (1 + Random(repr(names)).random()),
    }


def complete_cells():
    """The same over complete cells: nothing is unset."""
    whole = replace(LOANS, complete=True)
    return extract(FunctionTarget(rate, whole, "bank"))


def large():
    """20,736 prompts, with rules of every size and noise."""
    question = probe(
        "large",
        "Of {a}, {b}, {c} and {d} they said that it was {label}.",
        {a: [f"{a} value {i}" for i in range(11)] for a in "abcd"},
        {"good": "good", "bad": "bad"},
    )
    rng = Random(5)
    spread = {"a": 4.0, "b": 2.0, "c": 0.5, "d": 0.3}
    weight = {f"{a} value {i}": rng.gauss(0, s) for a, s in spread.items() for i in range(11)}

    def model(prompt, words):
        named = prompt.removeprefix("Of ").split(" they")[0].replace(" and ", ", ").split(", ")
        score = 1.0 + sum(weight.get(name, 0.0) for name in named) + Random(prompt).gauss(0, 0.05)
        return [score / 2, -score / 2]

    return extract(model, question, cache=False)


CASES = {
    case.__name__: case
    for case in (
        *(demo, strict, abstaining, varying, steady, pac, budget, learned, tested, empty),
        three_labels,
        *(one_attribute, no_attribute, infinite, hostile),
        *(phrasings, sampled_phrasings, averaged),
        *(cells, sampled_cells, scored_cells, complete_cells),
    )
}
SIFTED = ("ended", "rare", "prompted", "worlds")
CASES |= {f"sifted_{name}": sifted_cases.MADE[name] for name in SIFTED}
CASES |= chat_cases.CASES


def saved(result):
    """The contents of envelope.json and run.json."""
    went = replace(result.record, started="2026-01-02T03:04:05+00:00", seconds=75.25)
    return extraction_as_json(result), RUN.as_json(run_record(replace(result, record=went)))
