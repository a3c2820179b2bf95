r"""Rules in names instead of bits: as people write them, as text and JSON have them.

Read are ``nurse & male -> false`` and ``nurse ∧ male → ⊥`` alike; a name that contains one of the
signs, or is one of the words, stands in double quotes, with \ before a quote in it. A condition on
a column may hold quoted names (``"mean radius" < 15``) and parentheses: it is one name, as written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hornlens.errors import InputError
from hornlens.logic.bits import BOTTOM
from hornlens.logic.rule import Rule, in_signs
from hornlens.logic.vocabulary import Vocabulary

TRUE, FALSE = ("⊤", "true"), ("⊥", "false")
"""What an empty side, and a contradiction, are called."""
_TOKEN = r'\s*(?:"((?:[^"\\]|\\.)*)"|(->|→|=>)|(&|∧)|([^"&∧→]+?)(?=\s*(?:->|=>|[&∧→"]|$)))'
"""A quoted name, an arrow, an "and", or a plain name."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMPARES = re.compile(r"(?<!-)[<>≤≥≠=]|\s(?:in|is)\s")


@dataclass(frozen=True)
class NamedRule:
    """A rule in names; `consequent` is None for ⊥. It needs no vocabulary to be shown.

    >>> print(NamedRule.parse("nurse & male -> false"))
    nurse ∧ male → ⊥
    """

    antecedent: tuple[str, ...] = field(metadata={"key": "if"})
    consequent: tuple[str, ...] | None = field(metadata={"key": "then"})

    @classmethod
    def of(cls, rule: Rule, vocabulary: Vocabulary) -> NamedRule:
        """Return a rule in the names of its variables, without what its antecedent has already."""
        right = None if rule.is_negative else vocabulary.names_of(rule.new)
        return cls(vocabulary.names_of(rule.antecedent), right)

    @classmethod
    def given(cls, rule: NamedRule | str) -> NamedRule:
        """Return a rule that is given as one, or as text.

        >>> NamedRule.given("nurse -> false") == NamedRule.given(NamedRule(("nurse",), None))
        True
        """
        if isinstance(rule, NamedRule):
            return rule
        if not isinstance(rule, str):
            raise InputError(f"a rule is a text or a NamedRule, not {type(rule).__name__}")
        return cls.parse(rule)

    @classmethod
    def parse(cls, text: str) -> NamedRule:
        """Return the rule that a text says; a text that says none is an InputError."""
        sides: list[list[tuple[str, bool]]] = [[]]
        token = re.compile(_TOKEN)
        ready, at = True, 0  # ready for a name: at the start and after a sign
        while at < len(text.rstrip()):
            end = _end_of_condition(text, at) if ready else None
            if end is not None:
                sides[-1].append((text[at:end].strip(), True))
                at, ready = end, False
                continue
            match = token.match(text, at)
            if match is None or (match[3] and ready):
                raise _bad(text)
            if match[2] and (len(sides) == 2 or (ready and sides[0])):
                raise _bad(text)
            at = match.end()
            if match[2]:
                sides.append([])
                ready = True
            elif match[3]:
                ready = True
            elif not ready:
                raise _bad(text)
            else:
                quoted = match[1] is not None
                name = re.sub(r"\\(.)", r"\1", match[1]) if quoted else match[4]
                sides[-1].append((name, quoted))
                ready = False
        if len(sides) != 2 or ready:
            raise _bad(text)
        left, right = sides
        words = [name.lower() for name, quoted in right if not quoted]
        if len(right) == 1 and words and words[0] in FALSE:
            return cls(_names(left, text), None)
        return cls(_names(left, text), _names(right, text))

    def rule(self, vocabulary: Vocabulary) -> Rule:
        """Return the rule in bits; a name that the vocabulary lacks is an InputError."""
        right = BOTTOM if self.consequent is None else vocabulary.mask(self.consequent)
        return Rule(vocabulary.mask(self.antecedent), right)

    def __str__(self) -> str:
        """Return the rule as people write it: what `parse` reads back."""
        right = None if self.consequent is None else [*map(_quoted, self.consequent)]
        return in_signs([*map(_quoted, self.antecedent)], right)

    def as_json(self) -> dict[str, Any]:
        """Return {"if": names, "then": names or None for ⊥}."""
        right = None if self.consequent is None else list(self.consequent)
        return {"if": list(self.antecedent), "then": right}


def _end_of_condition(text: str, at: int) -> int | None:
    """Return where a condition ends that holds quotes or an "and" in parentheses; None if none."""
    place, compares, is_one = at, False, False
    while place < len(text):
        if text.startswith(("->", "=>", "→", "&", "∧"), place):
            break
        if quote := _QUOTED.match(text, place):
            place, is_one = quote.end(), True
        elif text[place] == "(" and (close := _closing(text, place)) is not None:
            is_one |= bool(re.search(r'["&∧]', text[place:close]))
            compares |= bool(_COMPARES.search(text, place, close))
            place = close
        else:
            compares |= bool(_COMPARES.match(text, place))
            place += 1
    return place if compares and is_one else None


def _closing(text: str, at: int) -> int | None:
    """Return the place behind the parenthesis that closes one; None if none does."""
    depth, place = 0, at
    while place < len(text):
        if quote := _QUOTED.match(text, place):
            place = quote.end()
            continue
        depth += (text[place] == "(") - (text[place] == ")")
        place += 1
        if not depth:
            return place
    return None


def _names(side: list[tuple[str, bool]], text: str) -> tuple[str, ...]:
    """Return the names of a side; ⊤ alone is none."""
    if len(side) == 1 and not side[0][1] and side[0][0].lower() in TRUE:
        return ()
    if any(not quoted and name.lower() in (*TRUE, *FALSE) for name, quoted in side):
        raise _bad(text)
    return tuple(dict.fromkeys(name for name, _ in side))


def _quoted(name: str) -> str:
    """Return a name as text has it: in quotes only where it would be read as something else."""
    plain = name == name.strip() and name and not re.search(r'["&∧→]|->|=>', name)
    if plain and name.lower() not in (*TRUE, *FALSE):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bad(text: str) -> InputError:
    return InputError(
        f'not a rule: {text!r}; write "a & b -> c", or "a & b -> false" for what never happens'
    )
