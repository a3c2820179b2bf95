"""How a classifier is explained: its bins, which cells are asked, and which rules are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hornlens.deprecation import renamed_argument
from hornlens.errors import InputError
from hornlens.logic.certificates import check_tolerances
from hornlens.logic.cuts import Cuts
from hornlens.results.documents.settings import Settings
from hornlens.targets.classifiers.answering import Classifier
from hornlens.targets.classifiers.binning import Binning, Bins, bin_columns
from hornlens.targets.classifiers.metering import Meter
from hornlens.targets.classifiers.plausible import Plausible

Domain = Literal["grid", "data", "plausible"]
Which = Literal["cover", "all"]


@renamed_argument("target", "label", since="0.3", removal="0.5")
@dataclass(frozen=True)
class Options:
    """How to explain; see `explain`."""

    bins: Bins = "auto"
    n_bins: int = 4
    domain: Domain = "grid"
    changes: int = 1
    background: tuple[str, ...] = ()
    rules: Which = "cover"
    max_conditions: int | None = None
    limit: int = 200_000
    budget: int | None = None
    """How many cells a sift asks at most; None: as many as it takes."""
    epsilon: float = 0.05
    delta: float = 0.05
    seed: int = 0
    label: str = "class"
    sift: bool = False
    """Whether rules are sifted, though all cells could be asked, or trees be looked into."""
    cover: float = 0.99
    """Which share of the rows is to be decided, where the rules of trees cannot decide all."""
    counts_class: bool = False
    """Whether the class is one of the `max_conditions` of a sift, as in the settings of extract."""
    plausible: Plausible | None = None
    """What is plausible; None: what the rows of X show, where that is the domain."""

    @property
    def settings(self) -> Settings:
        """The part of it that every result tells of."""
        return Settings(
            equivalence="sift" if self.sift else "auto",
            epsilon=self.epsilon,
            delta=self.delta,
            limit=self.limit,
            seed=self.seed,
            max_conditions=self.max_conditions,
        )

    @property
    def sifted_conditions(self) -> int | None:
        """How many conditions on columns a rule has at most that is sifted; None: as usual."""
        most = self.max_conditions
        if most is None or not self.counts_class:
            return most
        if not most:
            raise InputError("max_conditions counts the class as one: it must be 1 or more")
        return most - 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense; what the background says twice, it says once."""
        object.__setattr__(self, "background", tuple(dict.fromkeys(self.background)))
        domains = ("grid", "data", "plausible")
        for name, known in (("domain", domains), ("rules", ("cover", "all"))):
            if getattr(self, name) not in known:
                raise InputError(
                    f"{name} must be {' or '.join(known)}, not {getattr(self, name)!r}"
                )
        if self.plausible is not None and self.domain == "data":
            raise InputError("domain='data' are cells near rows: leave it out, or plausible=")
        if self.plausible is not None:
            object.__setattr__(self, "domain", "plausible")
        if not isinstance(self.label, str):
            raise InputError(f"label must be a text, not {self.label!r}")
        if (
            isinstance(self.cover, bool)
            or not isinstance(self.cover, int | float)
            or (not 0 <= self.cover <= 1)
        ):
            raise InputError(f"cover must be a share between 0 and 1, not {self.cover!r}")
        check_tolerances(self.epsilon, self.delta)
        _check_least(self, n_bins=2, changes=0, limit=1, budget=1, max_conditions=0)


@dataclass(frozen=True)
class QuestionOptions:
    """How one question about a classifier is looked into; see `prove` and `recourse`."""

    bins: Bins
    n_bins: int
    limit: int
    background: tuple[str, ...]
    seed: int

    @classmethod
    def of(
        cls, bins: Bins, n_bins: int, limit: int, background: Sequence[str] | str, seed: int
    ) -> QuestionOptions:
        """Return them as they are given: the background may be one rule."""
        assumed = (background,) if isinstance(background, str) else tuple(background)
        return cls(bins, n_bins, limit, assumed, seed)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        _check_least(self, n_bins=2, limit=1)

    def binning(
        self, clf: Any, classifier: Classifier, more: Mapping[str, Cuts], meter: Meter | None
    ) -> Binning:
        """Return the columns in levels; `more` are cuts that the question asks for."""
        return bin_columns(clf, classifier, self.bins, self.n_bins, more, meter, self.seed)


def _check_least(options: object, **least: int) -> None:
    for name, bound in least.items():
        value = getattr(options, name)
        if value is not None and (not isinstance(value, int) or value < bound):
            raise InputError(f"{name} must be {bound} or more, not {value!r}")
