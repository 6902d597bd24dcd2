"""A small corpus whose documents form chains of names, among letters that share names."""

from collections.abc import Iterable

from kgrag.values.documents import Document, Section

TEXTS = {
    "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik, who had come up from deck hand.",
    "Ole Brandvik": "Ole Brandvik went to sea at fourteen. His childhood was spent in Nordvika among fishermen.",
    "Nordvika": "Nordvika lies at the mouth of the river Stilla. The painter Marta Holm kept a summer studio there.",
    "Stilla": "The Stilla rises in the hills of Grenland and is known for salmon.",
    "Marta Holm": "Marta Holm painted boats and harbours in bright oils.",
    "Harbour lights": "A captain must know the harbour lights. Painters like them, too, in any home town.",
    "Steamers of the coast": "Many a steamer had a captain with a home town far away and a painter in the saloon.",
}
SHIPS = {
    "Fram": "The Fram was designed by Colin Archer for the polar ice.",
    "Colin Archer": "Colin Archer was a naval architect born in Larvik.",
    "Larvik": "Larvik is a town on the coast of Norway.",
    "Salmon": "Salmon swim up the rivers in autumn.",
}


def coast_documents(titles: Iterable[str] = TEXTS) -> list[Document]:
    """Return the documents with these titles, and sixty letters."""
    documents = [Document(title, (Section(TEXTS[title]),), title, metadata={"letter": title[0]}) for title in titles]
    people = ["Torvald Lunde", "Ingrid Solheim", "Kari Aune", "Per Hauge", "Siri Moen"]
    ports = ["Bergvik", "Havnes", "Sundby", "Orrefjell"]
    for i in range(60):
        text = f"In {ports[i % 4]} the merchant {people[i % 5]} sold wool to {people[(i + 1) % 5]} for {i} crowns."
        documents.append(Document(f"letter {i}", (Section(text),), f"Letter {i}"))
    return documents
