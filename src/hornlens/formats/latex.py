"""LaTeX: text, and rules as formulas, with what is special in LaTeX escaped.

Of the signs beyond Latin letters, those that our own names have are written as commands, so that
pdfLaTeX takes them. Other scripts need XeLaTeX or LuaLaTeX, and a font that has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from hornlens.formats.plain import visible
from hornlens.logic.named import NamedRule

_SIGNS = {
    "¬": "neg",
    "∧": "land",
    "∨": "lor",
    "→": "to",
    "⊤": "top",
    "⊥": "bot",
    "≤": "leq",
    "≥": "geq",
    "≠": "neq",
    "∞": "infty",
    "×": "times",
    "±": "pm",
    "ε": "varepsilon",
    "δ": "delta",
}
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: rf"\ensuremath{{\{command}}}" for sign, command in _SIGNS.items()},
        "−": r"\ensuremath{-}",  # a real minus
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


def latex_text(text: str) -> str:
    """Return text as LaTeX prints it: its special characters escaped."""
    return visible(text).translate(_LATEX)


def latex_conjunction(names: Sequence[str]) -> str:
    """Return names as one side of a rule, for math mode."""
    return r" \land ".join(rf"\text{{{latex_text(name)}}}" for name in names) or r"\top"


def latex_rule(rule: NamedRule) -> str:
    """Return a rule as a formula."""
    right = r"\bot" if rule.consequent is None else latex_conjunction(rule.consequent)
    return rf"${latex_conjunction(rule.antecedent)} \to {right}$"
