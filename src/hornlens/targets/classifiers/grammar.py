"""The grammar of rules about columns and classes, as people write them and as results show them.

    rule   = [either] arrow either                    age < 25 and priors >= 3 -> yes or maybe
    either = part {or part} | part {and part}         both in one line need parentheses
    part   = not part | ( either ) | test
    test   = column sign value | column [not] in { value, … } | column is [not] value
           | column is [not] missing | column is [not] known | column
           | value sign column [sign value] | class | label sign class | label in { class, … }

Signs are < <= > >= = != and ≤ ≥ ≠; "and" is also & and ∧, "or" is also | and ∨, an arrow ->, => or
→. Names and values stand in quotes where they hold signs. Names of columns and classes, and values
that a column is known to have, are read as they are, whatever they hold: the longest that fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hornlens.errors import InputError
from hornlens.targets.classifiers.columns import Table, is_missing
from hornlens.targets.classifiers.conditions import (
    KEYWORDS,
    TURNED,
    Both,
    Condition,
    Either,
    Expression,
    Not,
    OfClass,
    OfValue,
    ParsedRule,
    Sign,
)

DEEPEST = 40
"""How deep parentheses may be nested."""
SIGNS: dict[str, Sign] = {
    "<=": "≤",
    "≤": "≤",
    ">=": "≥",
    "≥": "≥",
    "==": "=",
    "=": "=",
    "<": "<",
    ">": ">",
}
CLOSING = {"(": ")", "[": "]", "{": "}"}
_SPACE = re.compile(r"\s*")
_ARROW = re.compile(r"->|→|=>")
_SIGN = re.compile(r"(?!=>)(<=|>=|==|!=|<>|≤|≥|≠|<|>|=)")
_AND = re.compile(r"and\b|&&?|∧", re.IGNORECASE)
_OR = re.compile(r"or\b|\|\|?|∨", re.IGNORECASE)
_NOT = re.compile(r"not\b|¬|!(?!=)", re.IGNORECASE)
_IN = re.compile(r"(not\s+)?in(?=\s*[\[({])|(∉)|∈", re.IGNORECASE)
_IS = re.compile(r"is\b(\s+not\b)?(?:\s+(missing|known|any\s+number)\b)?", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_ENDS = re.compile(
    r"\s+(?:and|or)\b|\s*(?:&|∧|∨|\||->|→|=>|<|>|=|≤|≥|≠|!=|,|[)\]}]|$)", re.IGNORECASE
)
_NO_WORD = re.compile(r"(?!\w)")
_TRUE, _FALSE = re.compile(r"⊤|true\b", re.IGNORECASE), re.compile(r"⊥|false\b", re.IGNORECASE)
_OPEN, _CLOSE, _COMMA = re.compile(r"\("), re.compile(r"\)"), re.compile(r",")
_BRACKET = re.compile(r"[(\[{]")


@dataclass(frozen=True)
class Words:
    """The names that a text may hold: of columns, of classes, and the values of columns.

    `label` is what the prediction is called; with `numbers`, it is compared with numbers.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...] = ()
    label: str = "class"
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: bool = False

    @classmethod
    def of(
        cls, table: Table, labels: Sequence[str] = (), label: str = "class", numbers: bool = False
    ) -> Words:
        """Return the words for the columns of a table."""
        return cls(table.names, tuple(labels), label, known_values(table), numbers)


def known_values(table: Table) -> dict[str, tuple[str, ...]]:
    """Return the values of the columns that have words, as texts."""
    values = {}
    columns = zip(table.names, table.kinds, table.levels, table.columns, strict=True)
    for name, kind, levels, column in columns:
        if kind in ("category", "ordered"):
            known = levels or set(column[~is_missing(column)].tolist())
            values[name] = tuple(sorted(map(str, known)))
    return values


def parse_rule(text: str, words: Words) -> ParsedRule:
    """Return the rule that a text says; a text that says none is an InputError."""
    reader = _Reader(text, words)
    given: Expression = Both()
    if not reader.sees(_ARROW):
        given = reader.either()
    if reader.take(_ARROW) is None or reader.at_end:
        kind = "a rule" if words.labels or words.numbers else "a rule about columns"
        example = "age < 25 and priors >= 3 -> yes" if words.labels else "pregnant -> sex = female"
        behind = " with a class behind ->" if words.labels else ""
        what = f"{reader.unread}; " if reader.unread else ""
        raise InputError(f'not {kind}: {text!r}; {what}write "{example}"{behind}')
    follows = reader.either(is_right=True)
    reader.finish()
    return ParsedRule(given, follows)


def parse_expression(text: str, words: Words, is_right: bool = False) -> Expression:
    """Return what a text says of columns and classes; `is_right`: classes come before columns."""
    reader = _Reader(text, words)
    if reader.at_end:
        return Both()
    expression = reader.either(is_right)
    reader.finish()
    return expression


class _Reader:
    """A text, and how far it was read."""

    def __init__(self, text: str, words: Words, depth: int = 0):
        self.text, self.words, self.at, self.depth = text, words, 0, depth
        self.is_bare = False
        """Whether the part that was read last is the name of a column alone."""

    # --- tokens ---

    def sees(self, token: re.Pattern[str]) -> re.Match[str] | None:
        """Return a token, if it comes next, behind spaces."""
        return token.match(self.text, self._next)

    def take(self, token: re.Pattern[str]) -> re.Match[str] | None:
        """Read a token, if it comes next."""
        match = self.sees(token)
        if match is not None:
            self.at = match.end()
        return match

    @property
    def _next(self) -> int:
        """Where the next token begins."""
        space = _SPACE.match(self.text, self.at)
        return self.at if space is None else space.end()

    @property
    def at_end(self) -> bool:
        """Whether nothing comes any more."""
        return self._next == len(self.text)

    @property
    def unread(self) -> str:
        """What comes next and was not understood, in words."""
        return "" if self.at_end else f"unexpected {self.text[self._next :][:30]!r}, {self._here}"

    @property
    def _here(self) -> str:
        """The place in the text, by what stands before it and behind it."""
        place = self._next
        before, behind = self.text[:place], self.text[place:]
        before = before if len(before) <= 30 else "…" + before[-30:]
        behind = behind if len(behind) <= 30 else behind[:30] + "…"
        return f"at character {place + 1}: {before}▸{behind}"

    def bad(self, what: str) -> InputError:
        """Return what is wrong at this place."""
        return InputError(f"{what}, {self._here}")

    def finish(self) -> None:
        """Refuse what is left."""
        if not self.at_end:
            raise InputError(self.unread)

    # --- expressions ---

    def either(self, is_right: bool = False) -> Expression:
        """Read parts that are joined by signs of one kind."""
        parts, joined = [self._part(is_right)], None
        while sign := next((sign for sign in (_AND, _OR) if self.sees(sign)), None):
            if joined not in (None, sign):
                raise self.bad('"and" beside "or": put one of them in parentheses')
            joined = sign
            self.take(sign)
            parts.append(self._part(is_right))
        if joined is None:
            return parts[0]
        return Both(tuple(parts)) if joined is _AND else Either(tuple(parts))

    def _part(self, is_right: bool) -> Expression:
        if self.depth >= DEEPEST:
            raise self.bad(f"more than {DEEPEST} parentheses inside each other")
        self.depth += 1
        self.is_bare = False
        part = self._test(is_right)
        if part is None:
            part = self._nested(is_right)
        self.depth -= 1
        return part

    def _nested(self, is_right: bool) -> Expression:
        if self.take(_NOT):
            inner = self._part(is_right)
            if self.is_bare and isinstance(inner, Condition):
                self.is_bare = False
                return Condition(inner.name, "=", "False")  # results show it so
            return Not(inner)
        if self.take(_OPEN):
            inner = self.either(is_right)
            if not self.take(_CLOSE):
                raise self.bad("expected a closing parenthesis")
            self.is_bare = False
            return inner
        if self.sees(_QUOTED) and not self._is_value_first():
            return self._within_quotes(is_right)
        for sign, meant in ((_TRUE, Both()), (_FALSE, Either())):
            if word := self.take(sign):
                label = _among(word[0], self.words.labels) if is_right else None
                return meant if label is None else OfClass(label)
        if is_right and self.sees(_SIGN) and (self.words.labels or self.words.numbers):
            test = self._compared(self._said, self.words.labels, self.words.label)
            assert test is not None
            return test
        return self._value_first(is_right)

    def _test(self, is_right: bool) -> Expression | None:
        """Read a test that begins with the name of a column, of the prediction or of a class."""
        start = self.at
        kinds = [self._of_column, self._of_prediction, self._of_class]
        for kind in reversed(kinds) if is_right else kinds:
            self.at = start
            if (test := kind()) is not None:
                return test
        self.at = start
        return None

    def _of_class(self) -> Expression | None:
        label = self._name(self.words.labels, _ENDS)
        goes_on = any(self.sees(sign) for sign in (_SIGN, _IN, _IS))
        return None if label is None or goes_on else OfClass(label)

    def _of_prediction(self) -> Expression | None:
        """Read what is said of the prediction by its name: class = yes, price > 300."""
        words = self.words
        if not words.labels and not words.numbers:
            return None
        if self._name((words.label, "class")) is None:
            return None
        return self._compared(self._said, words.labels, words.label)

    def _of_column(self) -> Expression | None:
        is_quoted = self.sees(_QUOTED) is not None
        name = self._name(self.words.names)
        if name is None:
            return None

        def asked(sign: Sign, value: str) -> Expression:
            return Condition(name, sign, value)

        test = self._compared(asked, self.words.values.get(name, ()), name, name)
        if test is None:
            if name.lower() in KEYWORDS and not is_quoted:  # a column called "not" needs quotes
                return None
            self.is_bare = True
            return Condition(name, "=", "True")
        return test

    def _compared(
        self,
        asked: Callable[[Sign, str], Expression],
        known: Sequence[str],
        shown: str,
        column: str | None = None,
    ) -> Expression | None:
        """Read what a name is compared with; None if no comparison comes next."""
        if sign := self.take(_SIGN):
            value = self._value(known, shown)
            if sign[0] in ("!=", "<>", "≠"):
                return Not(asked("=", value))
            return asked(SIGNS[sign[0]], value)
        if sign := self.take(_IN):
            each = tuple(asked("=", value) for value in self._list(known, shown))
            among = each[0] if len(each) == 1 else Either(each)
            return Not(among) if sign[1] or sign[2] else among
        if sign := self.take(_IS):
            if sign[2] is not None and column is not None:
                is_missing = sign[2].lower() == "missing"
                test: Expression = Condition(column, "missing" if is_missing else "known")
            else:
                self.at = sign.end(1) if sign[1] else sign.start() + len("is")
                test = asked("=", self._value(known, shown))
            return Not(test) if sign[1] else test
        return None

    def _said(self, sign: Sign, value: str) -> Expression:
        """Return that the prediction compares so with a value."""
        words = self.words
        if sign == "=" and (label := _among(value, words.labels)) is not None:
            return OfClass(label)
        if words.numbers:
            return OfValue(Condition(words.label, sign, value))
        if sign != "=":
            raise self.bad("classes have no order: compare them with =")
        raise self._no_class(value)

    def _no_class(self, text: str) -> InputError:
        return self.bad(f"there is no class {text!r} (there are: {_listed(self.words.labels)})")

    def _within_quotes(self, is_right: bool) -> Expression:
        """Read a whole condition that stands in quotes."""
        inner = _Reader(_unquoted(self.take(_QUOTED)), self.words, self.depth)
        if inner.at_end:
            raise self.bad("there is nothing in the quotes")
        part = inner.either(is_right)
        inner.finish()
        self.is_bare = inner.is_bare
        return part

    def _is_value_first(self) -> bool:
        start = self.at
        self.take(_QUOTED)
        is_first = self.sees(_SIGN) is not None
        self.at = start
        return is_first

    def _value_first(self, is_right: bool) -> Expression:
        """Read 5 < x, or 5 < x <= 7; else it is nothing that is known."""
        start = self._next
        first = _unquoted(self.take(_QUOTED)) if self.sees(_QUOTED) else self._raw(False)
        sign = self.take(_SIGN)
        words = self.words
        name = None
        if first and sign is not None:
            name = self._name((*words.names, *((words.label,) if words.numbers else ())))
        if name is None or sign is None:
            self.at = start
            if not first:
                raise self.bad("expected a condition" + (" or a class" if is_right else ""))
            if (label := _among(first, words.labels)) is not None:
                self._raw(False)
                return OfClass(label)
            if is_right and words.labels and sign is None:
                raise self._no_class(first)
            raise self.bad(f"{first!r} names no column (there are: {_listed(words.names)})")

        def asked(sign: Sign, value: str) -> Expression:
            return Condition(name, sign, value) if name in words.names else self._said(sign, value)

        if sign[0] in ("!=", "<>", "≠"):
            return Not(asked("=", first))
        low = asked(TURNED[SIGNS[sign[0]]], first)
        second = self.take(_SIGN)
        if second is None:
            return low
        if second[0] not in SIGNS:
            raise self.bad("expected one of the signs < <= > >= =")
        return Both((low, asked(SIGNS[second[0]], self._value(words.values.get(name, ()), name))))

    # --- names and values ---

    def _name(self, names: Iterable[str], ends: re.Pattern[str] = _NO_WORD) -> str | None:
        """Read the longest of some names that stands here, in quotes or without.

        `ends` comes behind a name that has no quotes.
        """
        if match := self.sees(_QUOTED):
            text = _unquoted(match)
            if text in names:
                self.at = match.end()
                return text
        start = self._next
        fitting = [
            name
            for name in names
            if name
            and self.text.startswith(name, start)
            and ends.match(self.text, start + len(name))
        ]
        if not fitting:
            return None
        name = max(fitting, key=len)
        self.at = start + len(name)
        return name

    def _value(self, known: Sequence[str], shown: str, in_list: bool = False) -> str:
        """Read a value: in quotes, one that is known, or all up to the next sign."""
        if match := self.take(_QUOTED):
            return _unquoted(match)
        start = self._next
        fitting = [
            value
            for value in known
            if value
            and self.text.startswith(value, start)
            and _ENDS.match(self.text, start + len(value))
        ]
        if fitting:
            value = max(fitting, key=len)
            self.at = start + len(value)
            return value
        value = self._raw(in_list)
        if not value:
            raise self.bad(f"expected a value of {shown}")
        return value

    def _raw(self, in_list: bool) -> str:
        """Read a text without quotes, up to the next sign; parentheses in it are closed in it."""
        start = place = self._next
        depth = 0
        while place < len(self.text):
            char = self.text[place]
            if depth and char == ")":
                depth -= 1
            elif char == "(":
                depth += 1
            elif char != "," or in_list:
                end = _ENDS.match(self.text, place)
                if end is not None and (char != "," or in_list) and not depth:
                    break
            place += 1
        if depth:  # a parenthesis that is not closed in it is none of it
            place = self.text.index("(", start)
        self.at = place
        return self.text[start:place].strip()

    def _list(self, known: Sequence[str], shown: str) -> list[str]:
        """Read values in brackets."""
        bracket = self.take(_BRACKET)
        if bracket is None:
            raise self.bad("expected a list of values in { }")
        values = [self._value(known, shown, in_list=True)]
        while self.take(_COMMA):
            values.append(self._value(known, shown, in_list=True))
        if not self.take(re.compile(re.escape(CLOSING[bracket[0]]))):
            raise self.bad(f'expected "," or "{CLOSING[bracket[0]]}"')
        return values


def _unquoted(match: re.Match[str] | None) -> str:
    assert match is not None
    return re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2], flags=re.DOTALL)


def _among(text: str, labels: Sequence[str]) -> str | None:
    """Return the class that is written so; if there is none, the one that differs in case only."""
    if text in labels:
        return text
    return next((label for label in labels if label.lower() == text.lower()), None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
