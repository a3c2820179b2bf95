"""What differs between results beside their rules: models, wording, policies, claims, versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hornlens.results.analysis.rulesets import RuleSet

Kind = Literal["model", "wording", "policy", "certificate", "version", "probe"]
KINDS: dict[str, Kind] = {
    "model": "model",
    "identity": "model",
    "probe": "probe",
    "label": "probe",
    "templates": "wording",
    "label words": "wording",
    "variants": "wording",
    "certificate": "certificate",
    "hornlens": "version",
}
"""What each setting is about; those that are not here are of the policy."""


@dataclass(frozen=True)
class SettingDifference:
    """A setting in which results differ: what each of them has, in their order."""

    setting: str
    kind: Kind
    values: tuple[str, ...]

    @property
    def disturbs(self) -> bool:
        """Whether rules may differ because of it, with the model as it was."""
        return self.kind in ("wording", "policy")

    def in_words(self, names: Sequence[str]) -> str:
        """Return the difference in a line, with the names of the results."""
        said = (f"{value or '–'} in {name}" for value, name in zip(self.values, names, strict=True))
        return f"{self.setting}: {'; '.join(said)}"


def setting_differences(results: Sequence[RuleSet]) -> tuple[SettingDifference, ...]:
    """Return every setting that is not the same in all results, as far as it is known."""
    found = []
    for setting in dict.fromkeys(key for result in results for key in result.made):
        values = tuple(result.made.get(setting, "") for result in results)
        if len(set(values)) > 1:
            found.append(SettingDifference(setting, KINDS.get(setting, "policy"), values))
    told = {each.setting for each in found}
    if "model" in told:  # another model has another identity
        found = [each for each in found if each.setting != "identity"]
    if not told & {"templates", "variants"}:
        every = [result.result.cell_prompts for result in results]
        # Values may be worded in another way in the same template: the prompts tell.
        shared = set.intersection(*(set(prompts) for prompts in every))
        for cell in sorted(shared):
            prompts = [each[cell] for each in every]
            if len(set(prompts)) > 1:
                values = tuple(" | ".join(each) for each in prompts)
                found.append(SettingDifference("prompts, such as", "wording", values))
                break
    return tuple(found)
