"""A small coast with its facts as triples, among irrelevant letters."""

from kgrag.values.documents import Document, Section, Triple

TEXTS = {
    "Fjord Queen": "The Fjord Queen was a steamer under captain Ole Brandvik.",
    "Brandvik family": "Ole Brandvik grew up in Nordvika.",
    "Nordvika": "Nordvika lies at the mouth of the river Stilla.",
    "Stilla": "The Stilla is known for salmon.",
    "Captains": "A captain may forget where his childhood was spent.",
}
FACTS = {
    "Fjord Queen": [("Ole Brandvik", "captain of", "Fjord Queen")],
    "Brandvik family": [("Ole Brandvik", "grew up in", "Nordvika")],
    "Nordvika": [("Nordvika", "lies at the mouth of", "Stilla")],
    "Stilla": [("Stilla", "known for", "salmon")],
}


def documents(facts: dict[str, list[tuple[str, str, str]]]) -> list[Document]:
    """Return the documents of the coast, among irrelevant letters."""
    found = [
        Document(
            title,
            (Section(text),),
            title,
            metadata={"n": len(title)},
            triples=tuple(Triple(*parts) for parts in facts.get(title, [])),
        )
        for title, text in TEXTS.items()
    ]
    letters = ((f"Letter {i}", f"The merchant of port {i} sold wool for {i} crowns.") for i in range(30))
    return found + [Document(title, (Section(text),), title, metadata={"n": 0}) for title, text in letters]
