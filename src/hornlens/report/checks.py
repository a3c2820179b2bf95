"""Outcomes of requirements as people, machines, JUnit's readers and GitHub want them."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

from hornlens.formats.plain import escaped, one_line, visible
from hornlens.results.documents.checks import CHECKS, Checks

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document can hold, not even escaped."""


def check_text(checks: Checks) -> str:
    """Return the outcomes for people: a block a result."""
    return "\n".join(f"{checked}\n" for checked in checks.results)


def check_junit(checks: Checks) -> str:
    """Return the outcomes as JUnit XML: a suite a result, a test case a requirement."""
    root = ElementTree.Element("testsuites", name="hornlens check")
    for checked in checks.results:
        counts = {"tests": len(checked.outcomes), "failures": len(checked.violations)}
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {"name": _xml(checked.name)} | {key: str(count) for key, count in counts.items()},
        )
        for outcome in checked.outcomes:
            place = {"file": _xml(checks.requirements)}
            place |= {"line": str(outcome.line)} if outcome.line else {}
            names = {"classname": _xml(checked.name), "name": _xml(outcome.title)}
            case = ElementTree.SubElement(suite, "testcase", names | place)
            text = _xml("\n".join(outcome.details))
            if outcome.passed:
                ElementTree.SubElement(case, "system-out").text = text
            else:
                about = {"type": outcome.kind, "message": _xml(one_line(outcome.finding))}
                ElementTree.SubElement(case, "failure", about).text = text
        if checked.caveat:
            ElementTree.SubElement(suite, "system-out").text = checked.caveat
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    lines = data.decode("utf-8").split("\n")
    return "".join(escaped(line, lambda sign: f"&#{ord(sign)};") + "\n" for line in lines)


def check_github(checks: Checks) -> str:
    """Return the violations as annotations of the file of requirements, as GitHub reads them."""
    lines = []
    for checked in checks.results:
        for outcome in checked.violations:
            where = {"file": checks.requirements, "line": str(outcome.line or 1)}
            where["title"] = f"{one_line(checked.name)}: {outcome.title}"
            fields = ",".join(f"{key}={_github_property(text)}" for key, text in where.items())
            message = _github("\n".join(outcome.details))
            lines.append(f"::error {fields}::{message}\n")
        # No names of others here: a line that began with "::" would be a command.
        caveat = f" {checked.caveat}" if checked.caveat else ""
        lines.append(f"hornlens check: {checked.summary}.{caveat}\n")
    return "".join(lines)


WRITERS: dict[str, Callable[[Checks], str]] = {
    "text": check_text,
    "json": CHECKS.text,
    "junit": check_junit,
    "github": check_github,
}
"""By the name of the format."""


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", text)


def _github(text: str) -> str:
    """Return text as the message of a workflow command."""
    in_commands = {"\r": "%0D", "\n": "%0A"}
    return escaped(text.replace("%", "%25"), lambda c: in_commands.get(c) or visible(c))


def _github_property(text: str) -> str:
    """Return text as a property of a workflow command."""
    return _github(text).replace(":", "%3A").replace(",", "%2C")
