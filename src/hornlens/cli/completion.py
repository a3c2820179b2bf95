"""Completion in shells: the scripts that shells load, and the words that may come next.

A script asks `hornlens completion --words -- WORD …` for what may stand in place of the last word.
Where nothing comes back, the shell completes files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

BASH = """\
_hornlens_completion() {
    local IFS=$'\\n'
    COMPREPLY=($(hornlens completion --words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _hornlens_completion hornlens
"""
ZSH = """\
#compdef hornlens
_hornlens() {
    local -a found
    found=("${(@f)$(hornlens completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then
        compadd -- "${found[@]}"
    else
        _files
    fi
}
compdef _hornlens hornlens
"""
FISH = """\
function __hornlens_completion
    set -l words (commandline -opc)
    hornlens completion --words -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c hornlens -a '(__hornlens_completion)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def words_after(root: Any, words: Sequence[str]) -> list[str]:
    """Return what may stand in place of the last of the words, which is perhaps begun."""
    *before, begun = words or [""]
    context = root.make_context("hornlens", [], resilient_parsing=True)
    command, option, given = root, None, 0
    for word in before:
        if option is not None:
            option = None
        elif word.startswith("-"):
            found = _option(command, word.partition("=")[0])
            takes_one = found is not None and not found.is_flag and "=" not in word
            option = found if takes_one else None
        elif hasattr(command, "list_commands"):
            inner = command.get_command(context, word)
            if inner is None:
                return []
            command = inner
        else:
            given += 1
    if option is not None:
        return _fitting(_values(option), begun)
    if hasattr(command, "list_commands") and not begun.startswith("-"):
        return _fitting(command.list_commands(context), begun)
    if begun.startswith("-"):
        shown = (option for option in _options(command) if not option.hidden)
        names = (n for option in shown for n in (*option.opts, *option.secondary_opts))
        return _fitting(["--help", *(name for name in names if name.startswith("--"))], begun)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    return _fitting(_values(arguments[given]), begun) if given < len(arguments) else []


def _options(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "option"]


def _option(command: Any, name: str) -> Any:
    named = (e for e in _options(command) if name in (*e.opts, *e.secondary_opts))
    return next(named, None)


def _values(parameter: Any) -> list[str]:
    """Return what a parameter can be; none: files, or what only its user knows."""
    # Where typer keeps what a parameter is depends on its version.
    choices = getattr(getattr(parameter, "type", None), "choices", None)
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if found := [*(choices or ()), *_literals(kind)]:
        return [str(choice) for choice in found]
    if parameter.name == "model" and parameter.param_type_name == "option":
        from hornlens.models.registry import MODELS

        forms = (kind.form for kind in MODELS.builtin.values())
        return [form.split("NAME")[0].split("FILE")[0] for form in forms]
    if parameter.name in ("target", "expert") and not parameter.hidden:
        from hornlens.targets.registry import TARGETS

        forms = (kind.form for kind in TARGETS.builtin.values())
        kinds = [form.split("FILE")[0].split("MODEL")[0] for form in forms]
        return ["person", *kinds] if parameter.name == "expert" else kinds
    if parameter.name == "probe":
        from hornlens.probes.loading import builtin_names

        return builtin_names()
    if parameter.name == "study":
        return ["demo", "paper"]
    return []


def _literals(kind: Any) -> list[str]:
    """Return the words of a Literal, also of one that may be left out."""
    if get_origin(kind) is Literal:
        return [*get_args(kind)]
    return [word for inner in get_args(kind) for word in _literals(inner)]


def _fitting(words: Sequence[str], begun: str) -> list[str]:
    return sorted({word for word in words if word.startswith(begun)})
