"""A result as people use it: it saves, shows, checks and exports itself, whatever was asked."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hornlens.formats.digests import with_digest
from hornlens.formats.files import write_files
from hornlens.formats.jsonfiles import json_text
from hornlens.results.documents.findings import Findings

if TYPE_CHECKING:
    from hornlens.report.plots import Plots
    from hornlens.results.documents.checks import Checked
    from hornlens.results.documents.requirements_file import Source


ANSWERED = ("scores.csv", "replies.csv", "rates.csv", "flips.csv", "disparities.csv", "run.json")
"""Files that only results with answers have; a sifted one has no rates and flips, and only one of
a chat model has replies."""
OTHERS = ("open.csv", "almost.csv", "levels.csv", "explanation.json", "table.json", *ANSWERED)
"""Files that only some results have."""
SEAL = "seal.json"
"""It is of what was sealed, and of nothing that is saved later."""


class Result(Findings):
    """What `extract` returns: rules with their evidence; saves, shows and checks itself.

    >>> from hornlens import extract
    >>> result = extract(lambda prompt, words: [0.9, 0.1], cache=False)
    >>> result
    <Result: gender-occupation on function, 1 rule, exact>
    >>> result.envelope.certificate.title, result.entails("male -> false")
    ('Exact', True)
    """

    @classmethod
    def of(cls, extraction: Findings) -> Result:
        """Return an extraction with what people do with it."""
        return cls(**{field.name: getattr(extraction, field.name) for field in fields(Findings)})

    def as_json(self) -> dict[str, Any]:
        """Return the contents of envelope.json."""
        from hornlens.results.documents.saving import result_as_json

        return result_as_json(self)

    def save(self, folder: str | Path, **more: Any) -> None:
        """Write all that the command line writes, or nothing: rules, answers, and the page.

        Where nobody was asked, there are only the rules, the lattice of a table, and the page.
        What another result left in the folder, and this one has not, is removed.

        Args:
            folder: Where to write; it is made if it is not there.
            **more: What else envelope.json is to hold.
        """
        out = Path(folder)
        files = self._files(out.resolve().name)
        if more:
            files["envelope.json"] = json_text(with_digest({**self.as_json(), **more}))
        write_files({out / name: text for name, text in files.items()})
        for name in (*OTHERS, SEAL):
            if name not in files:
                (out / name).unlink(missing_ok=True)  # of another result

    def _files(self, name: str) -> dict[str, str]:
        """Return all files, the page among them, by name; `name` is that of their folder."""
        from hornlens.report.page.result import result_page
        from hornlens.results.documents.saving import extraction_files

        files, content = extraction_files(self)
        return {**files, "report.html": result_page(self, content, name)}

    def check(self, requirements: Source) -> Checked:
        """Hold the result against requirements: a YAML file's path, or its fields as a mapping.

        A list of rules requires them. What comes back is true if nothing is violated, so that
        ``assert result.check("rules.yaml")`` is a test.

        >>> from hornlens import extract
        >>> def nurses(prompt, words):
        ...     return [0.9, 0.1] if "nurse" in prompt else [0.2, 0.8]
        >>> extract(nurses, cache=False).check({"forbid": ["nurse & male -> false"]})
        <Checked: 1 of 1 requirement violated: forbid nurse ∧ male → ⊥>
        """
        from hornlens.results.analysis.checking import check_requirements
        from hornlens.results.documents.requirements_file import read_requirements

        return check_requirements(self, read_requirements(requirements))

    def export(self, format: str, otherwise: str | None = None) -> str:
        """Return the result as text for other tools.

        Args:
            format: "latex", "prolog", "dimacs", "conexp" or "fcar" for the rules in short form;
                "csv" for rules.csv, "json" for all of envelope.json, "text" for a rule a line.
                For the rules of a classifier also what decides a row by them: "sql", "python",
                "pmml" or "json-rules".
            otherwise: For these four, the class of a row that no rule decides, as it is written
                in rules. (default: NULL, None, no result)

        >>> from hornlens import extract
        >>> print(extract(lambda prompt, words: [0.9, 0.1], cache=False).export("text"), end="")
        male → ⊥
        """
        if format == "json" and otherwise is None:
            return json_text(self.as_json())
        from hornlens.results.documents.exporting import exported_text

        return exported_text(self, format, otherwise)

    @cached_property
    def plot(self) -> Plots:
        """Drawings of the result, for notebooks: `plot.rules()`, `plot.map()`, and others."""
        from hornlens.report.plots import Plots

        return Plots(self)

    def _repr_html_(self) -> str:
        """Return the rules as a table under what may be claimed of them, for notebooks."""
        from html import escape

        certificate = self.certificate
        about = f"{self.title}: {len(self.rules)} {'rule' if len(self.rules) == 1 else 'rules'}"
        claim = f"{certificate.title}: {certificate.sentence}"
        return f"<p><b>{escape(about)}</b><br>{escape(claim)}</p>{self.rules._repr_html_()}"
