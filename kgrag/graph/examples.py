"""Example questions of a collection, made of its facts and names without a language model."""

from kgrag.graph.connection import Graph

_FACTS, _PASSAGES = 300, 100  # that are looked at
_CAP = 20  # facts that the name in the middle of a chain may begin
_SHORT, _LONGEST = 3, 30  # characters of a name
_ROWS = 50


def example_questions(graph: Graph, collection: str, most: int = 3) -> list[str]:
    """At most so many questions, each about other names: how two are connected, and what is known about one."""
    used: set[str] = set()

    def unused(*names: str) -> bool:
        if used.intersection(names):
            return False
        used.update(names)
        return True

    chains = graph.run("look_up/example_chains", collection=collection, reach=_FACTS, cap=_CAP, longest=_LONGEST,
                       limit=_ROWS)  # fmt: skip
    names = graph.run("look_up/example_names", collection=collection, reach=_PASSAGES, longest=_LONGEST, limit=_ROWS)
    asked = [
        f"How is {row['one']} connected to {row['other']}?"
        for row in chains
        if unused(row["one"], row["via"], row["other"])
    ][: max(1, most - 1)]
    named = (row["name"] for row in names if _is_name(row["name"]) and unused(row["name"]))
    return [*asked, *(f"What is known about {name}?" for name in named)][:most]


def _is_name(name: str) -> bool:
    """Return whether a name is one of something, not a heading such as FAQ: of two words, or in small letters, too."""
    return " " in name or (name[1:].islower() and len(name) > _SHORT)
