"""Several collections searched and asked as one: `kg["manuals", "notes"]`."""

from collections.abc import Sequence

from kgrag.agents.lookup import Lookup
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import STRATEGIES, split_system
from kgrag.client.arguments import check_part
from kgrag.client.collection import Collection
from kgrag.client.connection import Rankings
from kgrag.client.searching import Searching
from kgrag.retrieval.base import DEFAULT_RETRIEVER, Retriever
from kgrag.retrieval.federated import Federated
from kgrag.values.results import Filter


def split_names(names: str) -> tuple[str, ...]:
    """Return the names in a text that has commas between them."""
    return tuple(filter(None, map(str.strip, names.split(","))))


def checked(name: object) -> str:
    """Return the name of a collection. Raises TypeError for anything but a text."""
    if not isinstance(name, str):
        raise TypeError(f"a collection is looked for by its name, a str, not by {name!r}")
    return name


class Federation(Searching):
    """Collections whose passages are ranked together; each says its `collection`.

    Safe to share between threads. Methods raise NotFoundError when one of the collections does not exist.
    """

    usual = "single+pathrank"

    def __init__(self, collections: Sequence[Collection]) -> None:
        self.collections = tuple(dict.fromkeys(collections))
        self.name = ",".join(collection.name for collection in self.collections)

    def __repr__(self) -> str:
        return f"<Federation {self.name!r}>"

    @property
    def rankings(self) -> Rankings:
        """See Searching."""
        return self.collections[0].rankings

    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """See Searching."""
        check_part(retriever, Retriever, "retriever")
        if isinstance(retriever, Retriever):
            return retriever
        return Federated(*(collection.retriever(retriever) for collection in self.collections))

    def system(self, system: str | Strategy | None = None) -> Strategy:
        """See Searching. Raises ConfigurationError for one that walks a single graph."""
        check_part(system or "", Strategy, "system")
        if isinstance(system, Strategy):
            return system
        strategy, retriever = split_system(system or self.usual)
        return STRATEGIES[strategy.name](self.retriever(retriever), **dict(strategy.options))

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """See Searching; the first collection that has it."""
        found = (collection.look_up(question, filter=filter) for collection in self.collections)
        return next((each for each in found if each is not None), None)
