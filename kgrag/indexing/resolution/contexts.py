"""What texts say of the names of a pair, a sentence each, for whoever is to tell whether they are one entity's."""

import re
from collections.abc import Iterable, Sequence

from kgrag.graph.connection import Graph
from kgrag.indexing.resolution.resolve import NamePair

_PASSAGES = 2  # of a name, in which a sentence is looked for
_AROUND = 160  # characters on either side of a name
_WORD, _BETWEEN = re.compile(r"\w+"), r"\W{1,3}"
_END = re.compile(r"[.!?][\"'”’)]*\s|[。!?]")


def contexts(graph: Graph, pairs: Sequence[NamePair]) -> list[tuple[str, str]]:
    """For each pair a sentence with the first name, and one with the other; empty where no passage writes it so."""
    ids = sorted({id for pair in pairs for id in pair.ids})
    rows = graph.run("resolve/texts", ids=ids, most=_PASSAGES)
    texts = {row["id"]: [passage["text"] for passage in row["passages"]] for row in rows}
    return [
        (sentence(pair.one, texts.get(pair.ids[0], ())), sentence(pair.other, texts.get(pair.ids[1], ())))
        for pair in pairs
    ]


def sentence(name: str, texts: Iterable[str]) -> str:
    """The first sentence of texts that holds a name, or of a long one what is near it; empty if none does.

    The marks between the words of the name may be others: Ada M Lund is also Ada M. Lund.
    """
    written = re.compile(rf"(?<!\w){_BETWEEN.join(map(re.escape, _WORD.findall(name)))}(?!\w)", re.IGNORECASE)
    for text in (" ".join(text.split()) for text in texts):
        if (found := written.search(text)) is not None:
            start = max((end.end() for end in _END.finditer(text, 0, found.start())), default=0)
            after = _END.search(text, found.end())
            stop = len(text) if after is None else after.end()
            return text[max(start, found.start() - _AROUND) : min(stop, found.end() + _AROUND)].strip()
    return ""
