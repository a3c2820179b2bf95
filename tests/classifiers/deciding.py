"""What decides rows by exported rules: SQLite, Python, and evaluators of PMML and JSON of our own.

The evaluators are written from the specification of PMML 4.4 and from our page on the formats, and
know nothing of the writers: an element or attribute that they do not know is an error.
"""

import json
import sqlite3
from xml.etree import ElementTree

NOTHING = object()


def by_sql(text, names, columns):
    """Decide rows by a CASE expression, in SQLite; `columns` are lists of plain values."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE given ({', '.join(quoted)})")
        marks = ", ".join("?" * len(names))
        database.executemany(f"INSERT INTO given VALUES ({marks})", zip(*columns, strict=True))
        rows = database.execute(f"SELECT {text} FROM given ORDER BY rowid")
        answers = [one for (one,) in rows]
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("given",)]
    return answers


def by_python(text, names, columns):
    """Decide rows by the function `classify`."""
    module = {}
    exec(compile(text, "rules.py", "exec"), module)
    classify = module["classify"]
    return [classify(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


def by_json(text, names, columns):
    """Decide rows by the JSON of rules, as its description says."""
    content = json.loads(text)
    assert content.pop("kind") == "class rules" and content.pop("format") == 1
    assert set(content) == {
        *("model", "label", "claim", "classes", "columns", "rules", "otherwise"),
    }
    known = {}
    for column in content["columns"]:
        values = column.get("values")
        known[column["name"]] = column["missing"], None if values is None else set(values)
    rules = [(rule["if"], rule["then"]) for rule in content["rules"]]

    def meets(row, condition):
        value, asked = row[condition["column"]], set(condition) - {"column", "missing"}
        assert asked <= {"at_least", "below", "in"}
        if condition["missing"] or value is None:
            return condition["missing"] and value is None
        return (
            ("at_least" not in asked or value >= condition["at_least"])
            and ("below" not in asked or value < condition["below"])
            and ("in" not in asked or value in condition["in"])
        )

    answers = []
    for values in zip(*columns, strict=True):
        row = {n: None if v != v else v for n, v in zip(names, values, strict=True)}
        answer = content["otherwise"]
        if not any(
            (row[name] is None and not missing)
            or (row[name] is not None and among is not None and row[name] not in among)
            for name, (missing, among) in known.items()
        ):
            hits = (label for rule, label in rules if all(meets(row, one) for one in rule))
            answer = next(hits, answer)
        answers.append(answer)
    return answers


# --- PMML ---

TYPES = {"double": float, "integer": int, "string": str, "boolean": {"true": True, "false": False}}
SPACE = "{http://www.dmg.org/PMML-4_4}"


def children(element, *names, **attributes):
    """Return the children of an element that has these attributes (True: it must have it)."""
    assert all(child.tag.removeprefix(SPACE) in names for child in element), list(element)
    assert set(element.attrib) <= set(attributes), element.attrib
    for name, wanted in attributes.items():
        assert not wanted or name in element.attrib, (element.tag, name)
    return list(element)


def parsed(kind, text):
    """Return a value as its type has it."""
    kind = TYPES[kind]
    return kind[text] if isinstance(kind, dict) else kind(text)


def predicate(element, types):
    """Return a function of a row: True, False, or None where it is unknown."""
    tag = element.tag.removeprefix(SPACE)
    if tag == "True":
        children(element)
        return lambda row: True
    if tag == "CompoundPredicate":
        inner = children(element, "SimplePredicate", "CompoundPredicate", booleanOperator=True)
        tests = [predicate(one, types) for one in inner]
        assert len(tests) >= 2
        decisive = {"and": False, "or": True}[element.get("booleanOperator")]

        def compound(row):
            unknown = False
            for test in tests:
                answer = test(row)
                if answer is decisive:
                    return decisive
                unknown |= answer is None
            return None if unknown else not decisive

        return compound
    assert tag == "SimplePredicate", tag
    children(element, field=True, operator=True, value=False)
    name, operator = element.get("field"), element.get("operator")
    if operator in ("isMissing", "isNotMissing"):
        assert "value" not in element.attrib
        return lambda row: (row[name] is None) == (operator == "isMissing")
    value = parsed(types[name], element.get("value"))
    compare = {
        "equal": lambda given: given == value,
        "notEqual": lambda given: given != value,
        "lessThan": lambda given: given < value,
        "greaterOrEqual": lambda given: given >= value,
    }[operator]
    return lambda row: None if row[name] is None else compare(row[name])


def by_pmml(text, names, columns):
    """Decide rows by the RuleSetModel of a document, as PMML 4.4 says."""
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert root.tag == f"{SPACE}PMML"
    header, dictionary, model = children(
        root, "Header", "DataDictionary", "RuleSetModel", version=True
    )
    assert root.get("version") == "4.4"
    children(header, "Application", description=False)
    types, values = {}, {}
    fields = children(dictionary, "DataField", numberOfFields=True)
    assert int(dictionary.get("numberOfFields")) == len(fields)
    for field in fields:
        inner = children(field, "Value", name=True, dataType=True, optype=True)
        name, kind = field.get("name"), field.get("dataType")
        assert name not in types
        assert (field.get("optype") == "categorical") == bool(inner)
        types[name] = kind
        values[name] = {parsed(kind, one.get("value")) for one in inner} or None
        assert not inner or len(values[name]) == len(inner)
    schema, rule_set = children(
        model, "MiningSchema", "RuleSet", functionName=True, algorithmName=False
    )
    assert model.get("functionName") == "classification"
    policies, target = {}, None
    for field in children(schema, "MiningField"):
        children(field, name=True, usageType=0, invalidValueTreatment=0, missingValueTreatment=0)
        if field.get("usageType") == "target":
            assert target is None
            target = field.get("name")
            continue
        policies[field.get("name")] = (
            field.get("invalidValueTreatment", "returnInvalid"),
            field.get("missingValueTreatment", "asIs"),
        )
    assert {*policies, target} == set(types) and set(policies) <= set(names)
    method, *lines = children(rule_set, "RuleSelectionMethod", "SimpleRule", defaultScore=False)
    children(method, criterion=True)
    assert method.get("criterion") == "firstHit"
    rules, identities = [], set()
    for line in lines:
        (test,) = children(
            line,
            *("True", "SimplePredicate", "CompoundPredicate"),
            id=True,
            score=True,
            recordCount=False,
            nbCorrect=False,
            confidence=False,
        )
        identities.add(line.get("id"))
        rules.append((predicate(test, types), parsed(types[target], line.get("score"))))
    assert len(identities) == len(rules)
    default = rule_set.get("defaultScore")
    default = None if default is None else parsed(types[target], default)
    answers = []
    for given in zip(*columns, strict=True):
        row = {n: None if v != v else v for n, v in zip(names, given, strict=True)}
        answer = NOTHING
        for name, (invalid, missing) in policies.items():
            if row[name] is None:
                assert missing in ("asIs", "returnInvalid")
                answer = None if missing == "returnInvalid" else answer
            elif values[name] is not None and row[name] not in values[name]:
                assert invalid in ("asIs", "returnInvalid")
                answer = None if invalid == "returnInvalid" else answer
        if answer is NOTHING:
            answer = next((label for test, label in rules if test(row) is True), default)
        answers.append(answer)
    return answers


EVALUATORS = {"sql": by_sql, "python": by_python, "pmml": by_pmml, "json-rules": by_json}
