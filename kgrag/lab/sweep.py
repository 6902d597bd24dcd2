"""Sweeps: the same retriever or system with each of several values of one of its settings, as a table.

Source: KGP, section 5.4 and Figure 6.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgrag.agents.system import STRATEGIES, check_system, retriever_of
from kgrag.retrieval.base import RETRIEVERS, check_retriever
from kgrag.retrieval.expression import Expression, parse
from kgrag.values.errors import ConfigurationError

_FORM = "Write OPTION=VALUE,VALUE,... or OPTION=FIRST..LAST, as in branch=1,2,3,5 or seeds=1..10."
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_MOST = 100  # values


@dataclass(frozen=True, slots=True)
class Sweep:
    """A setting with its values. `lines`: what is varied -> value, as it is written -> the name with that value."""

    option: str
    values: tuple[Any, ...]
    lines: dict[str, dict[str, str]]

    @classmethod
    def of(cls, text: str, retrievers: Sequence[str], systems: Sequence[str]) -> "Sweep":
        """Return the sweep of "branch=1,2,3" over retrievers and systems; those without such a setting are in no line.

        Raises ConfigurationError when it cannot be read, or none of them has the setting or takes the values.
        """
        option, _, rest = text.partition("=")
        option = option.strip()
        values = _values(rest)
        if not option.isidentifier() or not values:
            raise ConfigurationError(f"{text!r} does not say what is to be varied.", _FORM)
        lines: dict[str, dict[str, str]] = {}
        for name in retrievers:
            made = {said(v): _varied(name, option, v) for v in values}
            if None not in made.values():
                lines[check_retriever(name)] = {said: check_retriever(new) for said, new in made.items() if new}
        for name in systems:
            made = {said(v): _varied_system(name, option, v) for v in values}
            if None not in made.values():
                lines[check_system(name)] = {said: check_system(new) for said, new in made.items() if new}
        if not lines:
            named = ", ".join([*retrievers, *systems])
            raise ConfigurationError(
                f"None of {named} has a setting {option!r}.",
                "`kgrag list retrievers` and `kgrag list systems` list what there is.",
            )
        return cls(option, values, lines)

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return some names, each varied one replaced by its variants."""
        return tuple(new for name in names for new in self.lines.get(name, {name: name}).values())


def _values(text: str) -> tuple[Any, ...]:
    """Return the values of a list such as "1,2,5..8, (title, mention)"; none if it is no such list."""

    def spread(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        return ", ".join(map(str, range(first, min(last, first + _MOST) + 1)))

    try:
        ((_, values),) = parse(f"x(values=[{_RANGE.sub(spread, text)}])").options
    except (ConfigurationError, ValueError):
        return ()
    return tuple(dict.fromkeys(values)) if isinstance(values, tuple) else ()


def said(value: Any) -> str:
    """Return a value as written in an expression."""
    return str(Expression("x", options=(("v", value),)))[4:-1]


def _varied(name: str, option: str, value: Any) -> str | None:
    """Return a retriever with another value of a setting, wherever it has it; None if it has none such."""
    expression = parse(name)
    changed = _changed(expression, option, value)
    return None if changed is expression else str(changed)


def _changed(expression: Expression, option: str, value: Any) -> Expression:
    parts = tuple(_changed(part, option, value) for part in expression.parts)
    if any(new is not old for new, old in zip(parts, expression.parts, strict=True)):
        expression = replace(expression, parts=parts)
    known = RETRIEVERS[expression.name].options.model_fields
    return _set(expression, option, value) if option in known else expression


def _varied_system(name: str, option: str, value: Any) -> str | None:
    """Return a system with another value of a setting of its retriever, or else of its strategy."""
    retriever = retriever_of(name)
    if f"+{retriever}" not in check_system(name):
        return None
    strategy = check_system(name).removesuffix(f"+{retriever}")
    if (new := _varied(retriever, option, value)) is not None:
        return f"{strategy}+{new}"
    own = parse(strategy)
    known = STRATEGIES[own.name].options.model_fields
    return f"{_set(own, option, value)}+{retriever}" if option in known else None


def _set(expression: Expression, option: str, value: Any) -> Expression:
    others = tuple((key, old) for key, old in expression.options if key != option)
    return replace(expression, options=(*others, (option, value)))
