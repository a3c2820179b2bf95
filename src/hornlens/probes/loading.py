"""Reading probe files, with the checks that cross fields."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

from hornlens.errors import InputError
from hornlens.formats.documents import Document, builtin_documents, parse_yaml
from hornlens.formats.files import read_text
from hornlens.logic.decisions import Policy
from hornlens.probes.probe import (
    Label,
    LabelValue,
    Probe,
    ProbeAttribute,
    Value,
    Variant,
    numbered,
)
from hornlens.probes.schema import AttributeFile, ElicitationFile, ProbeFile
from hornlens.probes.wording import AS_USUAL, LABEL, MASK, SLOT, ProbeElicitation

DEFAULT = "gender-occupation"
DEFAULT_MODELS = {
    "gender-occupation-2": "demo-polyglot",
    "gender-occupation-variants": "demo-polyglot",
}
"""The built-in models that know the words of built-in probes which `demo` cannot read."""
PHRASE_SLOT = re.compile(r"\{(?:a:)?value\}")


def builtin_names() -> list[str]:
    """Return the names of the built-in probes."""
    return builtin_documents("hornlens.probes")


def load_probe(name_or_path: str | Path) -> Probe:
    """Return a built-in probe by its name, or read one from a file.

    Args:
        name_or_path: The name (`hornlens probe list`), or the path of a YAML file.

    Raises:
        InputError: with the line and the field, if there is no such probe or it is wrong.

    >>> probe = load_probe("gender-occupation")
    >>> probe.prompt_count, [attribute.name for attribute in probe.attributes]
    (660, ['period', 'continent', 'occupation'])
    """
    if str(name_or_path) in builtin_names():
        return parse_probe(builtin_text(str(name_or_path)), str(name_or_path))
    path = Path(name_or_path)
    if not path.exists() and not path.suffix:
        known = ", ".join(builtin_names())
        raise InputError(f"no such file, nor a built-in probe (there are: {known})", path)
    return parse_probe(read_text(path), path)


def default_model(probe_name: str) -> str:
    """Return the spec of the model that a probe is put to where none is named."""
    return DEFAULT_MODELS.get(probe_name, "demo")


def builtin_text(name: str) -> str:
    """Return the YAML of a built-in probe."""
    return (resources.files("hornlens.probes") / "builtin" / f"{name}.yaml").read_text("utf-8")


def parse_probe(text: str, path: Path | str = "<text>") -> Probe:
    """Return the probe that YAML text describes; every mistake is an InputError with its line."""
    document = parse_yaml(text, path, ProbeFile)
    content = document.content
    _check_names(document)
    attributes = tuple(
        ProbeAttribute(
            a.name,
            tuple(Value(v.name, v.text, v.article, v.under) for v in a.values),
            Value("", a.unset, a.unset_article),
            a.phrase or "",
        )
        for a in content.attributes
    )
    words = tuple(LabelValue(v.name, v.word, tuple(v.patterns)) for v in content.label.values)
    for j, value in enumerate(words):
        for k, pattern in enumerate(value.patterns):
            try:
                re.compile(pattern)
            except re.error as error:
                problem = f"no regular expression: {error}"
                raise document.refuse(problem, "label", "values", j, "patterns", k) from None
    probe = Probe(
        name=content.name,
        description=content.description,
        attributes=attributes,
        label=Label(content.label.name, words),
        variants=numbered(content.templates or []),
        policy=Policy(**content.policy.model_dump()),
        sample_label=content.sample_label,
        elicitation=_elicitation(document, content.elicitation) or AS_USUAL,
    )
    if (content.templates is None) == (content.variants is None):
        raise document.refuse("give either templates or variants", "variants")
    if content.variants is not None:
        variants = tuple(_variant(document, k, probe) for k in range(len(content.variants)))
        return replace(probe, variants=variants)
    used = {
        slot[2]
        for t, template in enumerate(probe.templates)
        for slot in _slots(document, template, probe, "templates", t)
    }
    for i, attribute in enumerate(attributes):
        if attribute.name not in used:
            raise document.refuse("no template has a slot for this attribute", "attributes", i)
    return probe


def _elicitation(
    document: Document[ProbeFile], given: ElicitationFile | None, *where: int | str
) -> ProbeElicitation | None:
    """Return how chat models are asked; None: nothing is said of it."""
    if given is None:
        return None
    user = given.user or ""
    if user and user.count("{sentence}") != 1:
        raise document.refuse("must have {sentence} once", *where, "elicitation", "user")
    if user and given.method != "say" and "{options}" not in user:
        problem = "must have {options}, unless the method is say"
        raise document.refuse(problem, *where, "elicitation", "user")
    return ProbeElicitation(given.method or "", given.system or "", user)


def _check_names(document: Document[ProbeFile]) -> None:
    """Refuse what stands twice, and words that are said of two things."""
    content, refuse = document.content, document.refuse
    names: set[str] = set()
    for i, attribute in enumerate(content.attributes):
        if attribute.name in (LABEL, content.label.name):
            raise refuse("this name is the label's", "attributes", i, "name")
        if attribute.name in [a.name for a in content.attributes[:i]]:
            raise refuse(f"a second attribute {attribute.name!r}", "attributes", i, "name")
        if set(attribute.name) & set("{}:"):
            raise refuse("a name must not contain braces or a colon", "attributes", i, "name")
        if attribute.phrase is not None and len(PHRASE_SLOT.findall(attribute.phrase)) != 1:
            raise refuse("must have {value} or {a:value} once", "attributes", i, "phrase")
        texts: set[str] = {attribute.unset}
        above: set[str] = set()
        for j, value in enumerate(attribute.values):
            if value.name in names:
                raise refuse(f"a second value {value.name!r}", "attributes", i, "values", j)
            if value.text in texts:
                raise refuse(f"{value.text!r} is said twice", "attributes", i, "values", j)
            if value.under is not None and value.under not in above:
                problem = _not_above(value.under, value.name, attribute)
                raise refuse(problem, "attributes", i, "values", j, "under")
            names.add(value.name)
            texts.add(value.text)
            above.add(value.name)
    words: set[str] = set()
    for j, label_value in enumerate(content.label.values):
        if label_value.name in names:
            raise refuse(f"a second value {label_value.name!r}", "label", "values", j)
        if label_value.word in words:
            raise refuse(f"a second candidate {label_value.word!r}", "label", "values", j)
        names.add(label_value.name)
        words.add(label_value.word)


def _slots(
    document: Document[ProbeFile], template: str, probe: Probe, *where: int | str
) -> list[re.Match[str]]:
    """Return the slots of a template, the label's among them; refuse what is none."""
    known = [LABEL, *(attribute.name for attribute in probe.attributes)]
    slots = [m for m in SLOT.finditer(template) if m[2]]
    rest = SLOT.sub("", template)
    if "{" in rest or "}" in rest:
        raise document.refuse("a brace that is no slot; write {{ or }}", *where)
    if MASK in template:
        raise document.refuse(f"write {{{LABEL}}} where {MASK} should stand", *where)
    if sum(m[2] == LABEL for m in slots) != 1:
        raise document.refuse(f"must have the slot {{{LABEL}}} exactly once", *where)
    for m in slots:
        if m[2] not in known:
            there_are = ", ".join(known)
            raise document.refuse(f"unknown slot {m[0]} (there are: {there_are})", *where)
        if m[2] == LABEL and m[1]:
            raise document.refuse("the label takes no article", *where)
    return slots


def _variant(document: Document[ProbeFile], k: int, probe: Probe) -> Variant:
    """Return a variant with all its words: its own, and the probe's where it has none."""
    variants = document.content.variants or []
    own = variants[k]

    def refuse(message: str, *where: int | str) -> InputError:
        return document.refuse(message, "variants", k, *where)

    if own.name in [v.name for v in variants[:k]]:
        raise refuse(f"a second variant {own.name!r}", "name")
    slots = _slots(document, own.template, probe, "variants", k, "template")
    with_article = {m[2] for m in slots if m[1]}
    names = [attribute.name for attribute in probe.attributes]
    for name in own.attributes:
        if name not in names:
            raise refuse(f"no attribute {name!r}", "attributes", name)
    attributes = []
    for attribute in probe.attributes:
        if attribute.name not in {m[2] for m in slots}:
            raise refuse(f"no slot for the attribute {attribute.name!r}", "template")
        given = own.attributes.get(attribute.name)
        if given is not None:
            where = "attributes", attribute.name, "values"
            values = {value.name for value in attribute.values}
            if odd := sorted(given.values.keys() ^ values):
                problem = "has no wording here" if odd[0] in values else "is no value"
                raise refuse(f"{odd[0]!r} of {attribute.name} {problem}", *where)
            texts = [given.unset.text, *(wording.text for wording in given.values.values())]
            if twice := next((text for text in texts if texts.count(text) > 1), None):
                raise refuse(f"{twice!r} is said twice", *where)
            attribute = attribute._replace(
                values=tuple(
                    v._replace(text=new.text, article=new.article)
                    for v in attribute.values
                    for new in [given.values[v.name]]
                ),
                unset=Value("", given.unset.text, given.unset.article),
            )
        if attribute.name in with_article and not own.language.startswith("en"):
            for value in attribute.choices:
                if value.article is None:
                    raise refuse(f"give {value.text!r} its article in {own.language}", "attributes")
        attributes.append(attribute)
    label = probe.label
    if own.label is not None:
        if own.label.keys() != {value.name for value in label.values}:
            wanted = ", ".join(value.name for value in label.values)
            raise refuse(f"must have a word for each of {wanted}", "label")
        if len(set(own.label.values())) < len(own.label):
            raise refuse("two label values have the same word", "label")
        label = label._replace(
            # Patterns find the probe's own words, not a variant's.
            values=tuple(LabelValue(v.name, own.label[v.name]) for v in label.values)
        )
    asked = _elicitation(document, own.elicitation, "variants", k)
    return Variant(own.name, own.template, own.language, tuple(attributes), label, asked)


def _not_above(under: str, name: str, attribute: AttributeFile) -> str:
    """Return what is wrong with a value that is to stand under another."""
    if under == name:
        return f"{name!r} stands under itself"
    if under in [value.name for value in attribute.values]:
        return f"{under!r} comes after {name!r}; what stands above comes first"
    return f"{attribute.name} has no value {under!r} to stand under"
