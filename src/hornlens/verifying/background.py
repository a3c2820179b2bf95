"""What a result takes for granted: what its attributes demand, and rules that somebody gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hornlens.verifying.attributes import Rule
from hornlens.verifying.claims import Claim
from hornlens.verifying.grids import Space, Wrong

SHOWN = 20
"""So many of the rules that were given are listed one by one."""


def assumes(content: Mapping[str, Any], space: Space) -> bool:
    """Return whether rules were given beyond what the attributes demand: then not all cells occur.

    What the certificate says of it is not asked: a file could claim it to have fewer cells counted.
    """
    return any(rule not in space.own for rule in space.rules(content["background"]))


def check_background(content: Mapping[str, Any], space: Space, listed: list[Rule]) -> str:
    """Check the background of a result with answers; return what cannot be known of it, or "".

    A rule that is taken for granted hides whatever breaks it. A probe gives none, so what was asked
    in its prompts has none but the attributes' own. Other targets may: nobody can tell from a file
    whether theirs were given before anything was asked. Each is listed then, and the certificate
    has to say that some were assumed.
    """
    labels = sum(space.label_masks)
    given = [rule for rule in listed if rule not in space.own]
    for rule in given:
        if (rule[0] | (rule[1] or 0)) & labels:
            raise Wrong(f"background: {space.show_rule(rule)} is about the label")
    probe = content["probe"]
    if given and probe["templates"] and probe.get("compared") is None:
        raise Wrong(f"background: {space.show_rule(given[0])}, which no probe can give")
    if "weakest" in content["certificate"]:
        for line in (content, *content.get("variants", [])):
            scope = Claim.of(line["certificate"]).scope
            if given and scope.get("assumed") is not True:
                raise Wrong("certificate: what it assumes is not the background")
    if not given:
        return ""
    shown = "; ".join(space.show_rule(rule) for rule in given[:SHOWN])
    more = f"; and {len(given) - SHOWN:,} more" if len(given) > SHOWN else ""
    return f"that these rules were given before anything was asked: {shown}{more}"
