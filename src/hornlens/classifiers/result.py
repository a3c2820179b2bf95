"""What `explain` returns: a classifier's rules, which save and check themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hornlens.classifiers.explanation import Explained

if TYPE_CHECKING:
    from hornlens.logic.envelope import Envelope
    from hornlens.results.documents.checks import Checked
    from hornlens.results.documents.claims import Flips
    from hornlens.results.documents.requirements_file import Source


class Explanation(Explained):
    """The rules of a classifier: a table, a predictor, and what may be claimed of them.

    >>> import numpy as np
    >>> from hornlens import explain
    >>> X = np.array([[20.0], [30.0], [50.0]])
    >>> told = explain(lambda rows: rows[:, 0] >= 40, X, bins={"x0": [40]})
    >>> told.predict([[70.0]]).tolist()
    [True]
    """

    def basis(self) -> Envelope:
        """Return all that holds of the cells, as the DG basis: more than what implies a class.

        Every cell must have been asked; too many things that can be said are an error.
        """
        from hornlens.classifiers.bases import basis_of

        return basis_of(self)

    def flips(self, feature: str) -> Flips:
        """Say whether changing only this column ever changes the decision, and how often."""
        from hornlens.classifiers.flips import flips_of

        return flips_of(self, feature)

    def check(self, requirements: Source) -> Checked:
        """Hold the rules against requirements, as results are: a YAML file, or its fields."""
        from hornlens.classifiers.checking import check_explanation
        from hornlens.results.documents.requirements_file import read_requirements

        return check_explanation(self, read_requirements(requirements))

    def as_json(self) -> dict[str, Any]:
        """Return the contents of envelope.json."""
        from hornlens.classifiers.saving import explanation_as_json

        return explanation_as_json(self)

    def _files(self, name: str) -> dict[str, str]:
        """Return all files, the page among them, by name."""
        from hornlens.classifiers.saving import explanation_files

        return explanation_files(self)
