"""Studies and bias scores of every shape that pages have to cope with, made without models."""

from random import Random
from statistics import fmean

from hornlens import __version__
from tests.report_cases import NASTY

RECORDED = ("male", "female", "other", "unknown")
VERSIONS = {"hornlens": __version__, "format": 1}
STATISTICS = ("equivalence_queries", "membership_queries", "model_calls")


def _rule(rng, names, most=3):
    left = rng.sample(names, rng.randint(1, most))
    rest = [name for name in names if name not in left]
    return {"if": left, "then": None if rng.random() < 0.6 else rng.sample(rest, rng.randint(1, 2))}


def _distinct(rng, names, count):
    rules = {}
    while len(rules) < count:
        rule = _rule(rng, names)
        rules[tuple(rule["if"]), tuple(rule["then"] or ())] = rule
    return list(rules.values())


def study(
    models=("a", "b", "c", "d"),
    budgets=(50, 100, 200),
    runs=10,
    exact=True,
    published=False,
    names=None,
    rules=40,
    seed=0,
    without_rules=(),
):
    """A study.json: rules, counts and shares are drawn, means and intersections follow."""
    rng = Random(seed)
    names = names or [f"v{i}" for i in range(8)] + ["female", "male"]
    pool = _distinct(rng, names, rules)
    stable = max(1, 7 * runs // 10)
    found = []
    for index, name in enumerate(models):
        there = [] if name in without_rules else pool[: rules // 2 - 2 * index]
        parts = []
        for step, budget in enumerate(budgets):
            part = {"budget": budget, "runs": [], "rules": []}
            for s in range(runs):
                run = {
                    "seed": s,
                    "folder": f"runs/{index}/budget-{budget}/seed-{s}",
                    "rules": len(there) and rng.randint(0, 30),
                    "certificate": rng.choice(["budget_exhausted", "pac"]),
                    "statistics": {key: rng.randint(1, 90_000) for key in STATISTICS},
                }
                if exact:
                    run["recall"] = min(1.0, rng.uniform(0.2, 0.7) + step / 5) if there else None
                    run["precision"] = rng.random() if run["rules"] else None
                    run["agreement"] = rng.uniform(0.8, 1.0)
                part["runs"].append(run)
            for rule in pool if there else []:
                count = rng.randint(0, runs)
                if count:
                    more = {"found": count, "entailed": rng.randint(count, runs)}
                    true = any(rule is other for other in there) if exact else None
                    part["rules"].append({**rule, **more, "true": true})
            part["rules"].sort(key=lambda rule: -rule["found"])
            if exact:
                part["mean"] = {}
                for key in ("recall", "precision", "agreement"):
                    known = [run[key] for run in part["runs"] if run[key] is not None]
                    part["mean"][key] = fmean(known) if known else None
            if published and index < 2:
                lines = pool[:5] if step else []
                part["published"] = [
                    {**r, "found": n, "entailed": n, "true": exact or None, "published": 7 + n % 4}
                    for r, n in zip(lines, rng.sample(range(runs + 1), len(lines)), strict=True)
                ]
            parts.append(part)
        line = {"model": name, "identity": f"made:{name}", "exact": None, "budgets": parts}
        if exact:
            counts = [{str(b): rng.randint(0, runs) for b in budgets} for _ in range(len(there))]
            line["exact"] = {
                "folder": f"exact/{index} ?#%/{'m' * index}",
                "rules": [
                    {**r, "support": rng.randint(0, 60), "mean_margin": m, "entailed": n}
                    for r, m, n in zip(there, [None, *map(float, range(99))], counts, strict=False)
                ],
                "to_find": max(0, len(there) - index),
                "non_horn": 3,
                "model_calls": 660,
            }
        found.append(line)
    intersection = []
    for b, budget in enumerate(budgets):
        shared = []
        for rule in pool:
            counts = {
                model["model"]: sum(
                    r["found"]
                    for r in model["budgets"][b]["rules"]
                    if (r["if"], r["then"]) == (rule["if"], rule["then"])
                )
                for model in found
            }
            if min(counts.values()) >= stable:
                shared.append({**rule, "found": counts})
        intersection.append({"budget": budget, "rules": shared})
    shared = [
        {**rule, "found": {name: rng.randint(0, runs) for name in models}} for rule in pool[:3]
    ]
    extra = {"published_intersection": {"budget": budgets[-1], "rules": shared}}
    return {
        **VERSIONS,
        "study": {
            "name": "made",
            "description": "",
            "probe": "none",
            "models": list(models),
            "budgets": list(budgets),
            "seeds": list(range(runs)),
            "stable": stable,
            "settings": {"equivalence": "budget", "samples": None, "epsilon": 0.05},
            "policy": {"margin": 0.0, "top_k": None},
        },
        "variables": names,
        "models": found,
        "intersection": intersection,
        **(extra if published else {}),
    }


def times(content, minutes=None):
    """A times.json for a study."""
    rng = Random(1)
    models = []
    for model in content["models"]:
        exact = {"seconds": 12.5, "asked_the_model": 660, "answered_from_cache": 0}
        runs = len(content["study"]["seeds"])
        budgets = [
            {
                "budget": budget,
                "seconds": [round(rng.uniform(1, 9), 3) for _ in range(runs)],
                "asked_the_model": [0] * runs,
                "published_minutes": minutes,
            }
            for budget in content["study"]["budgets"]
        ]
        models.append(
            {"model": model["model"], "exact": model["exact"] and exact, "budgets": budgets}
        )
    return {**VERSIONS, "study": "made", "models": models}


def hostile_study():
    content = study(NASTY[:3], names=list(NASTY), published=True, budgets=(1, 2))
    content["study"] |= {"name": NASTY[0], "description": " ".join(NASTY), "probe": NASTY[1]}
    content["models"][0]["exact"]["folder"] = "javascript:alert(1)//"
    return content


STUDIES = {
    "four": lambda: study(published=True, without_rules=("d",)),
    "one": lambda: study(models=("only",), budgets=(30,), seed=2),
    "unjudged": lambda: study(models=("x", "y"), exact=False, seed=3),
    "empty": lambda: study(models=("e", "f"), without_rules=("e", "f"), seed=4),
    "single run": lambda: study(models=("s",), runs=1, seed=5),
    "crowded": lambda: study(models=("s", "t"), budgets=(400, 5, 10, 20, 5000), seed=6),
    "hostile": hostile_study,
}


def _score(rng, mean, some):
    reach = rng.choice([None, 0.01, 0.08, 0.3]) if some else None
    ends = (None, None) if reach is None else (max(-1.0, mean - reach), min(1.0, mean + reach))
    return {"mean": mean, "low": ends[0], "high": ends[1]}


def bias(
    models=("m", "n"),
    occupations=13,
    names=None,
    improbable=(),
    others=False,
    only_unknown=False,
    seed=0,
):
    """A bias.json: scores and people are drawn, totals and accuracies follow."""
    rng = Random(seed)
    names = names or [f"occupation {i}" for i in range(occupations)]
    recorded = {}
    for name in names:
        top = 10 ** rng.uniform(0.5, 5)
        recorded[name] = {g: int(rng.random() * top) for g in ("male", "female")}
        recorded[name] |= dict.fromkeys(("other", "unknown"), rng.randint(0, 9) if others else 0)
        if only_unknown:
            recorded[name] |= {"male": 0, "female": 0, "unknown": 7}
        else:
            recorded[name]["male"] += 1

    def line(people, ppbs):
        confusion = {p: dict.fromkeys(RECORDED, 0) for p in ("female", "male", "abstained")}
        for gender, count in people.items():
            first = rng.randint(0, count)
            second = rng.randint(0, count - first)
            parts = (first, second, count - first - second)
            for predicted, part in zip(confusion, parts, strict=True):
                confusion[predicted][gender] = part
        mean = rng.uniform(-1, 1)
        return {
            "people": sum(people.values()),
            "sentences": rng.randint(1, 40),
            "ppbs": _score(rng, mean, True) if ppbs else None,
            "normalised": _score(rng, max(-1.0, min(1.0, mean * 1.2)), True),
            "confusion": confusion,
            "accuracy": _accuracy(confusion),
        }

    found = []
    for name in models:
        ppbs = name not in improbable
        lines = [{"occupation": o, **line(recorded[o], ppbs)} for o in names]
        key = "ppbs" if ppbs else "normalised"
        lines.sort(key=lambda o, key=key: (-abs(o[key]["mean"]), o["occupation"]))
        everyone = {g: sum(people[g] for people in recorded.values()) for g in RECORDED}
        overall = line(everyone, ppbs)
        found.append(
            {"name": name, "identity": f"made:{name}", "occupations": lines, "overall": overall}
        )
    return {
        **VERSIONS,
        "dataset": {
            "name": "made",
            "people": found[0]["overall"]["people"],
            "left_out": [],
            "transformation": {"periods": {"bounds": [1, 2]}, "left_out": {}, "none": None},
        },
        "templates": ["{label} is a {occupation}."],
        "words": {"female": "She", "male": "He"},
        "policy": {"margin": 0.0, "top_k": None},
        "models": found,
        "statistics": {"occupations": len(names), "distinct_prompts": 90},
    }


def _accuracy(confusion):
    people = sum(row[g] for row in confusion.values() for g in ("male", "female"))
    return (confusion["male"]["male"] + confusion["female"]["female"]) / people if people else None


def hostile_bias():
    content = bias(NASTY[:3], names=["", *NASTY], others=True)
    content["dataset"] |= {
        "name": NASTY[0],
        "left_out": list(NASTY),
        "transformation": {NASTY[1]: {NASTY[2]: [NASTY[0], {NASTY[4]: NASTY[1]}]}},
    }
    content["templates"] = list(NASTY)
    content["words"] = {"female": NASTY[1], "male": NASTY[4]}
    return content


BIASES = {
    "two": bias,
    "sixty": lambda: bias(("a", "b", "c", "d"), occupations=60, others=True, seed=1),
    "single": lambda: bias(("only",), occupations=1, seed=2),
    "improbable": lambda: bias(("p", "q"), improbable=("q",), seed=3),
    "unknown": lambda: bias(only_unknown=True, seed=4),
    "hostile": hostile_bias,
}
