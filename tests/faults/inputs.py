"""Generated inputs of every kind: shaped as the reader expects them, with something odd inside.

Most of them are read to the end, so what lies behind the parser is reached; others break in one
place or some, anywhere.
"""

import copy
import json
from pathlib import Path

import yaml
from hypothesis import strategies as st

ODD = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**18, 10**400, 0.5, -0.0, 1e308, float("inf")),
    *("", " ", "a", "nurse", "she", "1", "-1", "false", "⊥", "a & b -> c", "{label}", "{a:work}"),
    *("{", "\x00", "\x1b[2J", "\u2028", "x" * 5_000, "../..", "=1+1", "nan", "\ud83d\ude00"),
    *([], {}, [[]], [None], ["a", "a"], {"": ""}, {"name": "a"}, [{}], {"if": [], "then": None}),
)
odd = st.sampled_from(ODD)
anything = st.recursive(
    odd | st.text(max_size=8) | st.integers() | st.floats(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside),
    max_leaves=5,
)
plain = st.sampled_from(
    [
        "nurse",
        "priest",
        "cook",
        "Norway",
        "Europe",
        "old",
        "new",
        "a",
        "b",
        "c",
        "work",
        "place",
        "x1",
        "age",
    ]
)
name = st.one_of(plain, plain, plain, st.text(min_size=1, max_size=6), st.just("a;b"))


def names(least, most):
    return st.lists(name, min_size=least, max_size=most, unique=True)


@st.composite
def probes(draw):
    """A probe with attributes, templates or variants that speak of them, a label and a policy."""
    attributes, slots = [], []
    for attribute in draw(names(0, 3)):
        values, earlier = [], []
        for value in draw(names(1, 5)):
            more = st.fixed_dictionaries(
                {"name": st.just(f"{attribute} {value}")},
                optional={
                    "text": name,
                    "article": st.sampled_from(["a", "an", "the"]),
                    **({"under": st.sampled_from(earlier)} if earlier else {}),
                },
            )
            values.append(draw(st.one_of(st.just(f"{attribute} {value}"), more)))
            earlier.append(f"{attribute} {value}")
        attributes.append(
            draw(
                st.fixed_dictionaries(
                    {"name": st.just(attribute), "unset": name, "values": st.just(values)},
                    optional={
                        "unset_article": st.just("a"),
                        "phrase": st.sampled_from(["it is {a:value}", "{value}"]),
                    },
                )
            )
        )
        slots.append(draw(st.sampled_from(["{%s}", "{a:%s}", "the {%s},"])) % attribute)
    labels = draw(names(2, 4))
    template = " ".join(draw(st.permutations([*slots, "{label}"])))
    label = {
        "name": "said",
        "values": [{"name": f"says {each}", "word": f"w{i}"} for i, each in enumerate(labels)],
    }
    content = {"hornlens": 1, "name": draw(name), "attributes": attributes, "label": label}
    if draw(st.booleans()):
        content["templates"] = [template] * draw(st.integers(1, 2))
    else:
        content["variants"] = [
            {"name": f"v{i}", "template": template, "language": draw(st.sampled_from(["en", "de"]))}
            for i in range(draw(st.integers(1, 3)))
        ]
    content |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "description": name,
                "sample_label": st.sampled_from(["always", "optional"]),
                "policy": policies,
            },
        )
    )
    return content


policies = st.fixed_dictionaries(
    {},
    optional={
        "label_unset": st.sampled_from(["accept", "reject"]),
        "margin": st.floats(0, 3) | st.integers(0, 10**6),
        "top_k": st.integers(1, 9),
        "abstain": st.sampled_from(["accept", "reject"]),
        "calibration": st.sampled_from(["none", "neutral", "mean"]),
        "phrasings": st.sampled_from(["each", "average"]),
    },
)
_runs = st.one_of(
    st.fixed_dictionaries({"runs": st.integers(1, 10_001)}),
    st.fixed_dictionaries({"seeds": st.lists(st.integers(), min_size=1, max_size=3, unique=True)}),
)
_models = st.sampled_from(["demo", "table/scores.csv", "x/y"])
_plans = st.fixed_dictionaries(
    {
        "hornlens": st.just(1),
        "name": name,
        "probe": st.sampled_from(["probe.yaml", "gender-occupation", "nowhere.yaml"]),
        "models": st.lists(
            st.sampled_from(["demo", "table/scores.csv", "x/y"]), min_size=1, unique=True
        ),
        "budgets": st.lists(st.integers(1, 10**6), min_size=1, max_size=4, unique=True),
    },
    optional={
        "protocol": st.sampled_from(["default", "paper"]),
        "samples": st.integers(1, 10**9),
        "epsilon": st.floats(0, 1, exclude_min=True, exclude_max=True),
        "delta": st.floats(0, 1, exclude_min=True, exclude_max=True),
        "policy": policies,
        "stable": st.integers(1, 3),
        "limit": st.integers(1, 10**12),
    },
)
studies = st.builds(dict.__or__, _plans, _runs)
_known = st.sampled_from(["nurse", "priest", "cook", "Europe", "Norway", "Asia", "he", "she"])
_side = st.lists(st.one_of(_known, _known, _known, plain), min_size=1, max_size=3).map(" & ".join)
_rule = st.builds("{} {} {}".format, _side, st.sampled_from(["->", "→"]), _side | st.just("false"))
_axes = st.sampled_from(["work", "place"])
_scopes = st.sampled_from(["every variant", "any variant"])
_rules = st.lists(
    _rule | st.fixed_dictionaries({"rule": _rule}, optional={"because": name, "in": _scopes}),
    min_size=1,  # a gate that requires nothing is refused: test_checks has those
    max_size=4,
)
requirements = st.fixed_dictionaries(
    {"hornlens": st.just(1)},
    optional={
        "require": _rules,
        "forbid": _rules,
        "in": _scopes,
        "invariant": st.lists(
            st.fixed_dictionaries(
                {
                    "attributes": st.lists(
                        st.sampled_from(["work", "place"]), min_size=1, max_size=2
                    )
                },
                optional={"tolerance": st.floats(0, 1), "because": name, "in": _scopes},
            ),
            min_size=1,
            max_size=3,
        ),
        "at_least": st.sampled_from(["exact", "pac"]),
        "rules": st.fixed_dictionaries(
            {"at_most": st.integers(0, 9)}, optional={"at_least": st.integers(0, 9)}
        ),
    },
)


@st.composite
def tables(draw):
    """A table of zeros and ones: names of columns, and rows."""
    columns = draw(names(1, 9))
    cells = st.lists(st.sampled_from("01"), min_size=len(columns), max_size=len(columns))
    return columns, draw(st.lists(cells, max_size=12))


def _csv(table):
    columns, rows = table
    lines = [[json.dumps(c) if '"' not in c and "\\" not in c else "q" for c in columns], *rows]
    return "\n".join(",".join(line) for line in lines) + "\n"


def _cxt(table):
    columns, rows = table
    columns = [" ".join(column.split()) or "blank" for column in columns]
    marks = ["".join("X" if cell == "1" else "." for cell in row) for row in rows]
    head = ["B", "", str(len(rows)), str(len(columns)), ""]
    return "\n".join([*head, *(f"o{i}" for i in range(len(rows))), *columns, *marks]) + "\n"


@st.composite
def formulas(draw, horn=False):
    """A formula in DIMACS: names of variables, a header, clauses."""
    width = draw(st.integers(1, 8))
    literal = st.integers(1, width).flatmap(lambda v: st.sampled_from([v, -v]))
    clauses = draw(st.lists(st.lists(literal, min_size=1, max_size=4), max_size=8))
    if horn:
        clauses = [[*(-abs(n) for n in clause[1:]), clause[0]] for clause in clauses]
    named = draw(st.dictionaries(st.integers(1, width), name, max_size=3))
    lines = [f"c quoted {v} {json.dumps(word)}" for v, word in named.items()]
    lines.append(f"p cnf {width} {len(clauses)}")
    return "\n".join([*lines, *(" ".join(map(str, [*clause, 0])) for clause in clauses)]) + "\n"


@st.composite
def scores(draw, valid):
    """Scores with the prompts of a valid file, and other numbers."""
    head, *lines = valid.splitlines()
    number = st.floats(max_value=0, allow_nan=False).map(repr)
    kept = draw(st.lists(st.sampled_from(lines), min_size=len(lines) - 2, unique=True))
    changed = []
    for line in kept:
        prompt, *_ = line.rsplit(",", head.count(","))
        changed.append(",".join([prompt, *(draw(number) for _ in range(head.count(",")))]))
    return "\n".join([head, *changed]) + "\n"


@st.composite
def people(draw):
    """A table of people, in the words of the small probe."""
    lines = ["occupation,period,continent,gender,people"]
    for _ in range(draw(st.integers(0, 8))):
        words = [["nurse", "priest", ""], ["old", "new", ""], ["Asia", ""], ["female", "male", ""]]
        cells = [draw(st.sampled_from(some)) for some in words]
        lines.append(",".join([*cells, str(draw(st.integers(0, 10**9)))]))
    return "\n".join(lines) + "\n"


def _places(content, where=()):
    """All places in a document, as the keys that lead there."""
    yield where
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _places(value, (*where, key))
    elif isinstance(content, list):
        for key, value in enumerate(content[:6]):
            yield from _places(value, (*where, key))


_changes = st.sampled_from([0, 0, 1, 1, 1, 2, 3])


def _at(content, where):
    for key in where:
        content = content[key]
    return content


@st.composite
def changed_document(draw, content, least=0):
    """A document with some places changed: left out, of another kind, twice, or very long."""
    content = copy.deepcopy(content)
    for _ in range(max(least, draw(_changes))):
        places = [where for where in _places(content) if where]
        if not places:
            break
        *before, last = draw(st.sampled_from(places))
        inside = _at(content, before)
        what = draw(st.integers(0, 6))
        if what == 0:
            del inside[last]
        elif what in (1, 2):
            inside[last] = copy.deepcopy(draw(anything))
        elif what == 3 and isinstance(inside, list):
            inside.insert(last, copy.deepcopy(inside[last]))
        elif what == 4 and isinstance(inside[last], int | float):
            inside[last] = inside[last] + draw(st.integers(-2, 2))
        elif what == 5 and isinstance(inside, list):
            length = len(json.dumps(inside[last], default=str)) + 2
            inside[last:last] = [inside[last]] * draw(st.integers(1, max(1, 500_000 // length)))
        else:  # what stands elsewhere
            inside[last] = copy.deepcopy(_at(content, draw(st.sampled_from(places))))
    return content


@st.composite
def changed_text(draw, text, least=0):
    """A text with some lines or cells changed."""
    lines = text.split("\n")
    for _ in range(max(least, draw(_changes))):
        at = draw(st.integers(0, len(lines) - 1))
        between = "," if "," in text else " "
        cells = lines[at].split(between)
        what = draw(st.integers(0, 6))
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, draw(st.sampled_from(lines)))
        elif what == 2:
            lines[at] = str(draw(odd))
        elif what == 3:
            lines[at] = between.join([*cells, draw(st.sampled_from(cells))])
        elif what == 4:
            cells[draw(st.integers(0, len(cells) - 1))] = str(draw(odd))
            lines[at] = between.join(cells)
        elif what == 5:
            lines[at:at] = [lines[at]] * draw(st.integers(1, 500_000 // (len(lines[at]) + 1)))
        else:
            here = draw(st.integers(0, len(lines[at])))
            sign = draw(st.sampled_from('0-9",\n\rXx.{}[]:é\x00'))
            lines[at] = lines[at][:here] + sign + lines[at][here + 1 :]
        lines = lines or [""]
    return "\n".join(lines)


def _yaml(documents):
    changed = documents.flatmap(changed_document)
    return changed.map(lambda content: yaml.safe_dump(content, allow_unicode=True))


def inputs(kind: str, path: Path, valid: str):
    """Return the strategy of texts for a reader, of which `valid` is one."""
    shaped = {
        "probe": _yaml(probes()),
        "people's probe": _yaml(st.just(yaml.safe_load(valid)) if path.suffix == ".yaml" else odd),
        "study": _yaml(studies),
        "requirements": _yaml(requirements),
        "csv": tables().map(_csv).flatmap(changed_text),
        "cxt": tables().map(_cxt).flatmap(changed_text),
        "dimacs": formulas().flatmap(changed_text),
        "background": formulas(horn=True).flatmap(changed_text),
        "scores": scores(valid).flatmap(changed_text),
        "people": people().flatmap(changed_text),
    }
    texts = shaped.get(kind)
    if texts is None:
        texts = changed_document(json.loads(valid)).map(json.dumps)
    return st.one_of(texts, texts, texts, changed_text(valid, 1))
