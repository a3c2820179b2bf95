"""Options that belong together: a command takes them as one value, people give each by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of what it takes as a named tuple.

    Its other arguments stay as they are, and all keep their order. Options are named as fields are,
    so no two of a command's may have the same name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not hasattr(kind, "_fields"):
            options.append(parameter.replace(annotation=kind))
            continue
        groups[name] = kind
        own = get_type_hints(kind, include_extras=True)
        options += [
            inspect.Parameter(
                each, parameter.kind, default=kind._field_defaults[each], annotation=own[each]
            )
            for each in kind._fields
        ]

    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each: given.pop(each) for each in kind._fields})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run
