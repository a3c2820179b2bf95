"""Scopes: of what a claim speaks, and how often a stand-in for a model agrees with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from hornlens.counts import plural
from hornlens.logic.warrants import check_count

Of: TypeAlias = Literal["every input", "plausible", "cells", "rows", "surrogate", "part", "word"]
WHOLE: tuple[Of, ...] = ("every input", "cells", "rows")
"""Scopes that are all of what was asked for: nothing stands in for it, and nothing is left out."""


def percent(share: float) -> str:
    """Return a share that is given as 100% only if it is."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(100 * share, 0.01), 99.99):.2f}%"


@dataclass(frozen=True)
class Agreement:
    """How often what stands in for a model says what the model itself says.

    `rows`: the share of the rows that were given; `uniform`: of `drawn` random inputs, each column
    uniform between its least and largest value. Of `cells` cells that these lie in, `mixed` have
    points with other classes than the point that stands for the cell. `repeated` of the inputs
    were asked twice, and `varied` of them got another class the second time. `compared`: so many of
    the rows only, because the run was ended before the cells of the others were asked; None: all.
    `ruled`: the share of the random inputs of which the rules say what the model says, where they
    are of some cells only; None: the cells were meant to be all.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("sentence",)
    rows: float
    uniform: float
    drawn: int
    cells: int
    mixed: int
    repeated: int = 0
    varied: int = 0
    compared: int | None = None
    ruled: float | None = None

    def __post_init__(self) -> None:
        """Reject numbers that cannot be."""
        for name in ("rows", "uniform", "ruled"):
            share = getattr(self, name)
            if share is None and name == "ruled":
                continue
            if not isinstance(share, int | float) or not 0 <= share <= 1:
                raise ValueError(f"{name} must be a share between 0 and 1, not {share!r}")
        for name in ("drawn", "cells", "mixed", "repeated", "varied"):
            check_count(name, getattr(self, name))
        if self.compared is not None:
            check_count("compared", self.compared)
        if self.mixed > self.cells or self.varied > self.repeated:
            raise ValueError("an agreement that counts more cases than there are")

    @property
    def whole(self) -> bool:
        """Whether no difference was measured."""
        return self.rows == 1 and self.uniform == 1 and not self.mixed and not self.varied

    @property
    def differs(self) -> bool:
        """Whether a difference was measured; where little was compared, there may be others."""
        return self.mixed > 0 or self.varied > 0

    @property
    def shares(self) -> str:
        """How often it agrees, as the end of a sentence."""
        if self.compared == 0 and not self.drawn:
            return "was not compared with yours before the run ended"
        rows = "the rows"
        if self.compared is not None:
            rows = f"{plural(self.compared, 'row')} whose cells were asked"
        parts = [] if self.compared == 0 else [f"{percent(self.rows)} of {rows}"]
        if self.drawn and self.ruled is not None:
            inputs = plural(self.drawn, "uniform input")
            parts.append(f"its rules agree on {percent(self.ruled)} of {inputs}")
        elif self.drawn:
            parts.append(f"{percent(self.uniform)} of {plural(self.drawn, 'uniform input')}")
        return f"agrees with yours on {' and '.join(parts)}"

    @property
    def sentence(self) -> str:
        """What was measured."""
        text = (
            f"It {self.shares}; {self.mixed:,} of {plural(self.cells, 'cell')} that were looked at "
            "have points of several classes."
        )
        return f"{text} {self.varying}" if self.varied else text

    @property
    def varying(self) -> str:
        """What is to be said of answers that vary."""
        return (
            f"The model itself gave {self.varied:,} of {plural(self.repeated, 'input')} another "
            "class when it was asked again."
        )


@dataclass(frozen=True)
class Scope:
    """Of what a claim speaks.

    *every input*: all that the target can be given. *plausible*: those that break few rules of the
    rows, as `kept` (so many of so many) of other rows do; a surrogate may have that, too. *cells*:
    those of this grid. *rows*: the rows of a table. *surrogate*: a binned model that stands in for
    the target, with its measured `agreement`. *part*: some cells only, those near the rows.
    *word*: what experts said.

    `words` tell which cells those are, `how` by which bins; `assumed`: what the background rules
    out is left aside. `excluded` names inputs that the target accepts and that nothing is claimed
    of: missing values, for example, where no row has one. "every input" with a measured difference
    cannot be made.
    """

    of: Of = "cells"
    words: str = ""
    how: str = ""
    assumed: bool = False
    agreement: Agreement | None = None
    excluded: tuple[str, ...] = ()
    kept: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Reject a scope that our own measurement contradicts."""
        if self.of not in get_args(Of):
            raise ValueError(f"a scope is of {', '.join(get_args(Of))}, not {self.of!r}")
        if self.of == "plausible" and self.kept is None:
            raise ValueError("a plausible input is like a share of the rows, which is not there")
        if self.kept is not None:
            for count in self.kept:
                check_count("kept", count)
            if self.of not in ("plausible", "surrogate") or self.kept[0] > self.kept[1]:
                raise ValueError("rows that are kept where nothing is left out")
        proper = self.of in ("every input", "plausible")
        if proper and self.agreement is not None and not self.agreement.whole:
            raise ValueError("nothing holds for every input where the measured agreement is less")

    @property
    def whole(self) -> bool:
        """Whether it is the target itself, and all of it."""
        return self.of in WHOLE

    @property
    def direct(self) -> bool:
        """Whether it speaks of the target itself, and not of something that stands in for it."""
        return self.of != "surrogate"

    @property
    def inputs(self) -> str:
        """All inputs that are meant, and which are not."""
        every = "every input" if self.kept is None else f"every plausible input ({self.alike})"
        every += " that the background allows" if self.assumed else ""
        return f"{every} (but for {' and '.join(self.excluded)})" if self.excluded else every

    @property
    def alike(self) -> str:
        """How many rows are like the inputs that are meant, where that is counted.

        >>> Scope("plausible", kept=(283, 285)).inputs
        'every plausible input (as 99.30% of 285 rows held out are)'
        """
        kept, rows = self.kept or (0, 0)
        if not rows:
            return "by the rules that were given"
        return f"as {percent(kept / rows)} of {rows:,} rows held out are"

    def as_json(self) -> dict[str, Any]:
        """Return the scope as a result's JSON has it."""
        content: dict[str, Any] = {"of": self.of}
        if self.words:
            content["words"] = self.words
        if self.how:
            content["how"] = self.how
        if self.assumed:
            content["assumed"] = True
        if self.agreement is not None:
            known = asdict(self.agreement).items()
            content["agreement"] = {name: value for name, value in known if value is not None}
        if self.excluded:
            content["excluded"] = list(self.excluded)
        if self.kept is not None:
            content["kept"] = list(self.kept)
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Scope:
        """Return what `as_json` wrote; a ValueError if it cannot be."""
        agreement = content.get("agreement")
        if agreement is not None:
            names = {field.name for field in fields(Agreement)}
            agreement = Agreement(**{key: agreement[key] for key in agreement if key in names})
        words, how = content.get("words", ""), content.get("how", "")
        if not (isinstance(words, str) and isinstance(how, str)):
            raise ValueError("the words of a scope must be text")
        excluded = content.get("excluded", ())
        if not isinstance(excluded, list | tuple) or not all(isinstance(x, str) for x in excluded):
            raise ValueError("what a scope excludes must be a list of texts")
        assumed, kept = content.get("assumed") is True, content.get("kept")
        if kept is not None:
            rows, of = kept
            kept = (rows, of)
        return cls(content["of"], words, how, assumed, agreement, tuple(excluded), kept)


def plausible_words(rules: int, most_broken: int, rows: int, kept: tuple[int, int]) -> str:
    """Return which inputs are plausible, by how many rules, and of how many rows that was tested.

    >>> print(plausible_words(100, 3, 284, (283, 285)))
    An input is plausible if it breaks at most 3 of 100 rules of the rows. 284 rows showed them; 283
    of 285 other rows (99.30%) break no more.
    """
    if not rules:
        return "Every input is plausible: the rows show no rule."
    of = f"of {plural(rules, 'rule')} of the rows"
    words = f"An input is plausible if it breaks at most {most_broken} {of}."
    count, total = kept
    if not total:
        return words
    share = f"{count:,} of {plural(total, 'other row')} ({percent(count / total)})"
    return f"{words} {plural(rows, 'row')} showed them; {share} break no more."


CELLS = Scope()
EVERY_INPUT = Scope("every input")
ROWS = Scope("rows")
WORD = Scope("word")
