"""Does a winner, or the reason for having none, follow from what is recorded of an answer?

Scores decide by the policy; replies by what they name; repeated answers by how often each label was
given. Where nothing of that is recorded, the answer itself is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, isclose, log
from typing import Any

from hornlens.verifying.grids import Wrong

BY_SCORES = ("tie", "margin", "top_k")
"""Reasons that follow from scores."""
BY_REPLIES = ("refusal", "cut", "unclear", "order", "other", "tie", "none")
"""Reasons that models give: by their replies, where these are recorded."""
BY_REPEATS = ("repeats", "worlds")
"""Reasons that follow from how often each label was given."""
UNDECIDED, HALF = "undecided", "half"
"""Reasons of answers that vary, and of answers that are compared."""
NEVER_NAMED = -1


def minus(a: float, b: float) -> float:
    """Return a difference: 0 for two that are the same, though they be infinite."""
    return 0.0 if a == b else a - b


def same(a: float | None, b: float | None) -> bool:
    """Say whether two figures are the same, as far as adding up in another order lets them be."""
    if a is None or b is None or a == b:
        return a is b or a == b
    return isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (a != a and b != b)


@dataclass(frozen=True)
class Deciding:
    """How the answers of a result were decided: `labels` many can be given.

    `noisy`: a certificate says how answers that vary were decided, and is held against them.
    `prompted`: a model was asked in prompts, `compared`: answers of several are compared.
    """

    policy: Mapping[str, Any]
    labels: int
    noisy: bool = False
    prompted: bool = False
    compared: bool = False

    def why_not(self, line: Mapping[str, Any], winner: int | None) -> str | None:
        """Return why an answer cannot have been decided as it says; None if it can."""
        scores, repeats = line["scores"], line.get("repeats")
        reason = line.get("abstained", "")
        if (winner is None) != bool(reason):
            return "a winner and a reason for having none, or neither"
        if not self._is_reason(reason, line):
            return f"{reason} is not why there is no winner"
        if repeats is not None and (why := self._not_repeated(line, winner)):
            return why
        if scores and len(scores) != self.labels:
            return "not a score for each label"
        if scores and not (repeats and winner is None):
            return self._not_scored(line, winner)
        if why := self._not_a_margin(line):
            return why
        return None if scores else self._not_named(line, winner)

    def _is_reason(self, reason: str, line: Mapping[str, Any]) -> bool:
        """Say whether there can be such a reason in a result of this kind."""
        if not reason:
            return True
        if reason == UNDECIDED:
            return self.noisy
        if reason == HALF:
            return self.compared
        if line.get("repeats"):
            return reason in (*BY_REPEATS, *BY_SCORES, *BY_REPLIES)
        if line["scores"]:
            return reason in BY_SCORES
        # Others' targets, and those that are compared, have reasons of their own.
        own = not self.prompted or self.compared
        return reason in BY_REPLIES or (own and reason not in BY_REPEATS)

    def _not_repeated(self, line: Mapping[str, Any], winner: int | None) -> str | None:
        """Return why what was given most often cannot have won; noise is looked at elsewhere."""
        repeats = line["repeats"]
        if len(repeats) != self.labels or any(type(n) is not int or n < 0 for n in repeats):
            return "not a count for each label"
        if winner is not None and not self.noisy and 2 * repeats[winner] <= sum(repeats):
            return "the winner was not said more often than all others"
        return None

    def _not_a_margin(self, line: Mapping[str, Any]) -> str | None:
        """Return why the margin cannot be that of an answer that no scores decided.

        Where no majority was found, the scores are those of the label that was given most often.
        """
        leads = [0.0]
        if line["scores"]:
            first, second = sorted(line["scores"], reverse=True)[:2]
            leads.append(minus(first, second))
        if any(same(line["margin"], lead) for lead in leads):
            return None
        return f"the margin is {leads[-1]}, not {line['margin']}"

    def _not_scored(self, line: Mapping[str, Any], winner: int | None) -> str | None:
        """Return why the scores do not decide so."""
        scores, policy = line["scores"], self.policy
        first, second = sorted(scores, reverse=True)[:2]
        lead, least = minus(first, second), policy["margin"]
        if not same(line["margin"], lead):
            return f"the margin is {lead}, not {line['margin']}"
        if why := _not_from_replies(line, policy):
            return why
        if winner is not None:
            enough = lead > 0 and (lead >= least or bool(line.get("repeats")))
            return None if scores[winner] == first and enough else "the winner has not won"
        ranked = policy.get("top_k") is not None  # the ranks are not recorded
        possible = {
            "tie": lead == 0,
            "margin": 0 < lead < least,
            "top_k": ranked and lead > 0 and lead >= least,
            UNDECIDED: lead > 0 and lead >= least,  # by how much is held against the drift
        }
        reason = line["abstained"]
        return None if possible[reason] else f"{reason} is not why there is no winner"

    def _not_named(self, line: Mapping[str, Any], winner: int | None) -> str | None:
        """Return why the winner, or the counts, are not what the replies name."""
        replies, repeats = line.get("replies", ()), line.get("repeats")
        if not replies:
            return None
        named = [_named(reply) for reply in replies]
        counts = [named.count(place) for place in range(self.labels)]
        if repeats:
            all_there = self.noisy and len(named) == sum(repeats) + line.get("silent", 0)
            return "not what the replies name" if all_there and counts != repeats else None
        most = [place for place, count in enumerate(counts) if count == max(counts)]
        scored = any(reply.get("scores") for reply in replies)
        clear = len(most) == 1 and sum(counts) == len(named)
        if winner is not None:
            fits = clear and most[0] == winner and not scored
            return None if fits else "the winner is not what most replies name"
        return _no_reason(line["abstained"], replies, named, clear and not scored)


def _named(reply: Mapping[str, Any]) -> int:
    place: int = NEVER_NAMED if reply.get("refused") else reply.get("named", NEVER_NAMED)
    return place


def _no_reason(
    reason: str, replies: Sequence[Mapping[str, Any]], named: Sequence[int], clear: bool
) -> str | None:
    """Return why replies do not bear a reason for having no winner."""
    if clear:
        return "the winner is not what most replies name"
    silent = [r for r, place in zip(replies, named, strict=True) if place == NEVER_NAMED]
    if silent and not any("reading" in reply for reply in silent):
        return None  # up to 0.2, how a reply was read is not recorded
    signs = [r.get("reading", "").split("(otherwise ")[-1] for r in silent]
    refused = any(r.get("refused") for r in silent) or any(s.startswith("refus") for s in signs)
    possible = {
        "refusal": refused,
        "cut": any(sign.startswith("cut off") for sign in signs),
        "unclear": bool(silent),
        "other": bool(silent) or any(None in reply.get("scores", ()) for reply in replies),
        "order": len(set(named)) > 1,
        "tie": len(set(named)) > 1 or any(sign.endswith(" tie") for sign in signs),
    }
    return None if possible.get(reason) else f"{reason} is not what the replies show"


def _not_from_replies(line: Mapping[str, Any], policy: Mapping[str, Any]) -> str | None:
    """Return why scores are not those of the replies: their mean, or what is likeliest to follow.

    Calibrated and averaged scores are those of more than one prompt's replies.
    """
    replies = line.get("replies", ())
    scored = [reply for reply in replies if reply.get("scores")]
    plain = policy.get("calibration", "none") == "none" and not line.get("repeats")
    if not scored or len(scored) < len(replies) or not plain or len(line["prompts"]) != 1:
        return None
    if all(len(reply.get("order", ())) == 1 for reply in scored):
        sums = {reply["order"][0]: reply["scores"][reply["order"][0]] or 0.0 for reply in scored}
        top = max(sums.values())
        whole = top + log(fsum(exp(value - top) for value in sums.values()))
        means = [minus(sums[place], whole) for place in sorted(sums)]
    else:
        filled = [
            [reply.get("bound", 0.0) if score is None else score for score in reply["scores"]]
            for reply in scored
        ]
        means = [fsum(column) / len(filled) for column in zip(*filled, strict=True)]
    if len(means) != len(line["scores"]) or not all(map(same, line["scores"], means)):
        return "the scores are not those of the replies"
    return None


def check_majorities(lines: Sequence[Mapping[str, Any]]) -> None:
    """Check that one number of repeats explains all answers that a majority decided, or did not.

    How often no label was given is not recorded of them: the number of repeats may be larger than
    the labels that were counted, and the same for all.
    """
    repeated = [line for line in lines if line.get("repeats")]
    if not repeated:
        return
    won = [line for line in repeated if line["winner"] is not None]
    least = max(sum(line["repeats"]) for line in repeated)
    most = min((2 * max(line["repeats"]) - 1 for line in won), default=4 * least + 1)
    for many in range(max(least, 1), most + 1):
        if all(_is_majority(line, many) for line in repeated):
            return
    raise Wrong("answers: no number of repeats explains what was decided by a majority")


def _is_majority(line: Mapping[str, Any], many: int) -> bool:
    counts: list[int] = line["repeats"]
    if line["winner"] is not None:
        return 2 * max(counts) > many
    if line["abstained"] in BY_REPEATS:
        return 2 * max(counts) <= many
    return many - sum(counts) >= max(counts)
