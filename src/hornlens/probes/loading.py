"""Reading probe files, with the checks that cross fields."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.documents import builtin_documents, parse_yaml
from hornlens.formats.files import read_text
from hornlens.logic.decisions import Policy
from hornlens.probes.probe import (
    LABEL,
    MASK,
    SLOT,
    Label,
    LabelValue,
    Probe,
    ProbeAttribute,
    Value,
)
from hornlens.probes.schema import AttributeFile, ProbeFile

DEFAULT = "gender-occupation"


def builtin_names() -> list[str]:
    """Return the names of the built-in probes."""
    return builtin_documents("hornlens.probes")


def load_probe(name_or_path: str | Path) -> Probe:
    """Return a built-in probe by its name, or read one from a file."""
    if str(name_or_path) in builtin_names():
        return parse_probe(builtin_text(str(name_or_path)), str(name_or_path))
    path = Path(name_or_path)
    if not path.exists() and not path.suffix:
        known = ", ".join(builtin_names())
        raise InputError(f"no such file, nor a built-in probe (there are: {known})", path)
    return parse_probe(read_text(path), path)


def builtin_text(name: str) -> str:
    """Return the YAML of a built-in probe."""
    return (resources.files("hornlens.probes") / "builtin" / f"{name}.yaml").read_text("utf-8")


def parse_probe(text: str, path: Path | str = "<text>") -> Probe:
    """Return the probe that YAML text describes; every mistake is an InputError with its line."""
    document = parse_yaml(text, path, ProbeFile)
    content, refuse = document.content, document.refuse
    attributes = {a.name: a for a in content.attributes}
    names: set[str] = set()
    for i, attribute in enumerate(content.attributes):
        if attribute.name in (LABEL, content.label.name):
            raise refuse("this name is the label's", "attributes", i, "name")
        if attribute.name in [a.name for a in content.attributes[:i]]:
            raise refuse(f"a second attribute {attribute.name!r}", "attributes", i, "name")
        if set(attribute.name) & set("{}:"):
            raise refuse("a name must not contain braces or a colon", "attributes", i, "name")
        said: set[str] = {attribute.unset}
        for j, value in enumerate(attribute.values):
            if value.name in names:
                raise refuse(f"a second value {value.name!r}", "attributes", i, "values", j)
            if value.text in said:
                raise refuse(f"{value.text!r} is said twice", "attributes", i, "values", j)
            if value.under is not None:
                before = [v.name for v in attribute.values[:j]]
                if value.under not in before:
                    problem = _not_above(value.under, value.name, attribute)
                    raise refuse(problem, "attributes", i, "values", j, "under")
            names.add(value.name)
            said.add(value.text)
    for j, label_value in enumerate(content.label.values):
        if label_value.name in names:
            raise refuse(f"a second value {label_value.name!r}", "label", "values", j)
        names.add(label_value.name)
        if label_value.word in [v.word for v in content.label.values[:j]]:
            raise refuse(f"a second candidate {label_value.word!r}", "label", "values", j)
    used: set[str] = set()
    for t, template in enumerate(content.templates):
        slots = [m for m in SLOT.finditer(template) if m[2]]
        rest = SLOT.sub("", template)
        if "{" in rest or "}" in rest:
            raise refuse("a brace that is no slot; write {{ or }}", "templates", t)
        if MASK in template:
            raise refuse(f"write {{{LABEL}}} where {MASK} should stand", "templates", t)
        if sum(m[2] == LABEL for m in slots) != 1:
            raise refuse(f"must have the slot {{{LABEL}}} exactly once", "templates", t)
        for m in slots:
            if m[2] != LABEL and m[2] not in attributes:
                known = ", ".join([LABEL, *attributes])
                raise refuse(f"unknown slot {m[0]} (there are: {known})", "templates", t)
            if m[2] == LABEL and m[1]:
                raise refuse("the label takes no article", "templates", t)
        used |= {m[2] for m in slots}
    for i, attribute in enumerate(content.attributes):
        if attribute.name not in used:
            raise refuse("no template has a slot for this attribute", "attributes", i)
    return Probe(
        name=content.name,
        description=content.description,
        templates=tuple(content.templates),
        attributes=tuple(
            ProbeAttribute(
                a.name,
                tuple(Value(v.name, v.text, v.article, v.under) for v in a.values),
                Value("", a.unset, a.unset_article),
            )
            for a in content.attributes
        ),
        label=Label(
            content.label.name, tuple(LabelValue(v.name, v.word) for v in content.label.values)
        ),
        policy=Policy(**content.policy.model_dump()),
        sample_label=content.sample_label,
    )


def _not_above(under: str, name: str, attribute: AttributeFile) -> str:
    """Return what is wrong with a value that is to stand under another."""
    if under == name:
        return f"{name!r} stands under itself"
    if under in [value.name for value in attribute.values]:
        return f"{under!r} comes after {name!r}; what stands above comes first"
    return f"{attribute.name} has no value {under!r} to stand under"
