"""What `explain` returns: a classifier's rules, which save and check themselves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hornlens.classifiers.explanation import Explained
from hornlens.exact.boxes.cells import GridCells

if TYPE_CHECKING:
    from hornlens.classifiers.mattering import WhereItMatters
    from hornlens.formats.decisions.lists import DecisionList
    from hornlens.logic.envelope import Envelope
    from hornlens.logic.named import NamedRule
    from hornlens.results.analysis.judging import Exceptions, Judgement
    from hornlens.results.analysis.rulesets import Verdict
    from hornlens.results.documents.flips import Flips
    from hornlens.results.documents.requirements import Scope


class Explanation(Explained):
    """The rules of a classifier: a table, a predictor, and what may be claimed of them.

    >>> import numpy as np
    >>> from hornlens import explain
    >>> X = np.array([[20.0], [30.0], [50.0]])
    >>> told = explain(lambda rows: rows[:, 0] >= 40, X, bins={"x0": [40]})
    >>> told.predict([[70.0]]).tolist()
    [True]
    """

    @property
    def rule_count(self) -> int:
        """How many rules there are."""
        return len(self.boxes)

    @property
    def questions(self) -> tuple[int, int]:
        """How many questions were answered, of how many: a classifier says a class of every row."""
        return len(self.rows), len(self.rows)

    @property
    def why_no_chance(self) -> str:
        """Why nothing is said of chance: the rules are boxes, and not all that can be said."""
        return "the rules of a classifier are not counted for permuted answers"

    def p_value_of(self, place: int) -> float | None:
        """Return nothing: see `why_no_chance`."""
        return None

    def decision_list(self, otherwise: str | None = None) -> DecisionList:
        """Return the rules in the order in which `predict` uses them, with exact bounds.

        `otherwise` is the class of what no rule decides; None: no class.
        """
        from hornlens.classifiers.deciding import decision_list_of

        return decision_list_of(self, otherwise)

    def basis(self) -> Envelope:
        """Return all that holds of the cells, as the DG basis: more than what implies a class.

        Every cell must have been asked; too many things that can be said are an error.
        """
        from hornlens.classifiers.bases import basis_of

        return basis_of(self)

    def flips(self, attribute: str | Sequence[str]) -> Flips:
        """Say whether changing only this column ever changes the decision, and how often.

        Several columns are changed at once.
        """
        from hornlens.classifiers.flips import flips_of

        return flips_of(self, attribute)

    def where_it_matters(self, attribute: str, *, most: int = 100) -> WhereItMatters:
        """Return the rules of where changing only this column changes the decision.

        Where all cells were asked, the rules decide all of them. For ensembles beyond the grid,
        boxes are proved one by one, those with most rows first, and the share that is open is told.

        Args:
            attribute: The column.
            most: For ensembles beyond the grid: into how many boxes the inputs are split, at most.
        """
        from hornlens.classifiers.mattering import where_it_matters

        return where_it_matters(self, attribute, most)

    def judge(self, rule: NamedRule | str, scope: Scope = "every variant") -> Judgement:
        """Return what is known of a rule (or its text), in words and with the row that shows it."""
        from hornlens.classifiers.judging import judge_by_cells
        from hornlens.logic.named import NamedRule

        return judge_by_cells(self, NamedRule.given(rule))

    def exceptions(self, rule: NamedRule | str, scope: Scope = "every variant") -> Exceptions:
        """Count the cells that break a rule, among those that it speaks of."""
        from hornlens.classifiers.judging import exceptions_by_cells
        from hornlens.logic.named import NamedRule

        return exceptions_by_cells(self, NamedRule.given(rule))

    # --- compared with others ---

    @property
    def compared_rules(self) -> tuple[NamedRule, ...]:
        """The rules that are held against other classifiers."""
        from hornlens.logic.named import NamedRule

        return tuple(NamedRule(rule.conditions, (rule.label,)) for rule in self.rules)

    @property
    def compared_sentences(self) -> tuple[str, ...]:
        """What each of them says, in words."""
        return tuple(rule.sentence for rule in self.rules)

    @property
    def compared_rates(self) -> None:
        """Nothing: how often a class is given depends on the rows."""
        return None

    @property
    def compared_over(self) -> dict[str, tuple[str, ...]]:
        """The columns and classes, which other results must have as well, in whatever order."""
        names, labels = self.feature_names, self.binned.classifier.labels
        return {"columns": tuple(sorted(names)), "classes": tuple(sorted(labels))}

    @property
    def has_all_rules(self) -> bool:
        """Whether every cell was asked: then all that holds of the cells is known."""
        return isinstance(self.labelled, GridCells) and not self.labelled.open

    @property
    def made(self) -> dict[str, str]:
        """How it was made, by setting."""
        from hornlens.classifiers.comparing import settings_of_explanation

        return settings_of_explanation(self)

    @property
    def cell_prompts(self) -> dict[int, tuple[str, ...]]:
        """Nothing: a classifier is asked without prompts."""
        return {}

    def verdict_on(self, rule: NamedRule, owner: Explanation) -> Verdict:
        """Return what is known of a rule of another classifier, and the row that breaks it."""
        from hornlens.classifiers.comparing import verdict_by_cells

        return verdict_by_cells(self, rule, owner)

    def common_with(self, others: Sequence[Explanation]) -> tuple[NamedRule, ...] | None:
        """Return rules that hold in all and decide every cell in which all agree, or None."""
        from hornlens.classifiers.comparing import common_rules

        return common_rules([self, *others])

    @cached_property
    def with_flips(self) -> Explanation:
        """The same with the flips of each column, for which the model is asked once."""
        from hornlens.classifiers.saving import with_flips

        return with_flips(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled; a model that cannot be is asked for the flips before."""
        return dict(vars(self if self.binned.classifier.can_be_pickled else self.with_flips))

    def as_json(self) -> dict[str, Any]:
        """Return the contents of envelope.json."""
        from hornlens.classifiers.saving import explanation_as_json

        return explanation_as_json(self.with_flips)

    def _files(self, name: str) -> dict[str, str]:
        """Return all files, the page among them, by name."""
        from hornlens.classifiers.saving import explanation_files

        return explanation_files(self.with_flips)
