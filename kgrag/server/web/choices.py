"""What is chosen on several pages: a collection, a question, a system to ask."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from kgrag.agents.system import DEFAULT_SYSTEM, STRATEGIES
from kgrag.retrieval.registry import DEFAULT_RETRIEVER, RETRIEVERS

SEARCH = "search: "
"""Before the name of a retriever: passages alone, without a language model."""


def collection_choice(name: str, names: Sequence[str], address: Callable[[str], str]) -> ui.select:
    """A list of collections; the page of `address` opens for the one that is chosen."""
    choice = ui.select(list(names), value=name, label="Collection").classes("min-w-40")
    return choice.on_value_change(lambda: ui.navigate.to(address(choice.value)))


def system_choice(value: str, label: str = "How", **options: Any) -> ui.select:
    """A list of what can be asked, to which others can be added by their names, such as ircot+ppr."""
    systems = [DEFAULT_SYSTEM, *(name for name in STRATEGIES if name != DEFAULT_SYSTEM.partition("+")[0])]
    searches = [f"{SEARCH}{name}" for name in (DEFAULT_RETRIEVER, *sorted(set(RETRIEVERS) - {DEFAULT_RETRIEVER}))]
    names = list(dict.fromkeys([value, *systems, *searches]))
    return ui.select(names, value=value, label=label, with_input=True, new_value_mode="add-unique", **options)


def default_system(has_model: bool) -> str:
    """What is asked if nothing is chosen: without a language model a search."""
    return DEFAULT_SYSTEM if has_model else f"{SEARCH}{DEFAULT_RETRIEVER}"
