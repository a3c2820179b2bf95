"""Who gave the replies: the fingerprints in a file, counted again and held against its claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hornlens.verifying.grids import Wrong


def check_sources(content: Mapping[str, Any]) -> str:
    """Check that certificates count the replies of each fingerprint; return what was checked.

    Ways of asking may ask models of different names: only those of one name must be one model. A
    file without replies has nothing to check: "".
    """
    if content["probe"].get("compared") is not None:
        return ""  # several models are meant to answer
    variants = content.get("variants", [])
    asked = {line["name"]: line.get("model", content["model"])["name"] for line in variants}
    counts: dict[Any, Counter[str]] = {}
    seen: set[tuple[Any, str]] = set()
    for answer in content["answers"]:
        variant, prompts = answer.get("variant"), answer["prompts"]
        parts = [answer] if len(prompts) == 1 else answer.get("phrasings", [])
        for prompt, part in zip(prompts, parts, strict=False):
            if (variant, prompt) in seen:
                continue
            seen.add((variant, prompt))
            given = (reply.get("fingerprint") for reply in part.get("replies", ()))
            counts.setdefault(variant, Counter()).update(name for name in given if name)
    if not any(counts.values()) or "weakest" not in content["certificate"]:
        return ""
    groups: dict[Any, Counter[str]] = {}
    for variant, own in counts.items():
        groups.setdefault(asked.get(variant, variant), Counter()).update(own)
    _check(content["certificate"], groups.values())
    for line in variants:
        _check(line["certificate"], [counts.get(line["name"], Counter())])
    replies = sum(sum(own.values()) for own in counts.values())
    return f"fingerprints: those of {replies:,} replies are counted as the certificate says"


def _check(certificate: Mapping[str, Any], groups: Iterable[Counter[str]]) -> None:
    mixed = [own for own in groups if len(own) > 1]
    replies = sorted((count for own in mixed for count in own.values()), reverse=True)
    models = max((len({name.split(" ")[0] for name in own}) for own in mixed), default=1)
    claimed = certificate.get("sources", {})
    if list(claimed.get("replies", [])) != replies or claimed.get("models", 1) != models:
        shown = ", ".join(f"{count:,}" for count in replies) or "one only"
        raise Wrong(f"certificate: replies by fingerprints are {shown}, and it says otherwise")
    if claimed.get("changed", 0) > claimed.get("reasked", 0):
        raise Wrong("certificate: more answers changed than were asked again")
