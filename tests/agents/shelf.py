"""Documents with pages, tables and headings, and the expected answers to questions about them."""

from kgrag.values.documents import Document, Page, Section, Table

PLACES = "Ancud Bodo Cobh Dover Esbjerg Faro Galway Husavik Ilulissat Jelsa Kotor Larvik".split()


def page_text(place: str, number: int) -> str:
    rest = " ".join(f"In year {n} of the survey {10 * number + n} boats left the quay of {place}." for n in range(4))
    return f"{place} lies on sheet {number} of the chart. Whales were seen off {place} in spring. {rest}"


def report(key: str = "in/report.pdf", title: str = "Harbour Report", pages: int = 12, tables: int = 3) -> Document:
    """Return a report longer than a passage, without page labels; table N is on page 2N + 1, the second continues."""
    made = tuple(Page(n, page_text(PLACES[n - 1], n)) for n in range(1, pages + 1))
    sections, headings = [], ["1 Introduction", "2 Methods", "3 Findings", "3 Findings > 3.2 Losses", "4 Outlook"]
    for heading, first in zip(headings, (1, 3, 5, 8, 11), strict=True):
        own = [p for p in made if first <= p.number < {1: 3, 3: 5, 5: 8, 8: 11, 11: 99}[first]]
        text, breaks = "", []
        for page in own:
            text += "\n\n" if text else ""
            breaks.append((len(text), page.number))
            text += page.text
        if text:
            sections.append(Section(text, heading, tuple(breaks)))
    held = tuple(
        Table(
            n,
            (("Ship", "Length"), *((f"{PLACES[i]} {n}", f"{10 * n + i} m") for i in range(4))),
            f"Table {n}: Ships of {PLACES[n]}" if n != 3 else "",
            2 * n + 1,
            2 * n + 1 + (n == 2),
        )
        for n in range(1, tables + 1)
    )
    return Document(key, tuple(sections), title, pages=made, tables=held)


def manual() -> Document:
    """Return a manual with pages labelled i to iv, then 1 to 6."""
    labels = ["i", "ii", "iii", "iv", "1", "2", "3", "4", "5", "6"]
    made = tuple(Page(n, f"Leaf {n} tells of sails and oars.", label) for n, label in enumerate(labels, 1))
    text = " ".join(p.text for p in made)
    breaks = tuple((text.index(f"Leaf {p.number} "), p.number) for p in made)
    return Document("manual.pdf", (Section(text, "", breaks),), "Rigging", pages=made)


def minutes() -> Document:
    """Return a file with a long name, two pages and a table on each."""
    made = (Page(1, "Móðir sat í stafni."), Page(2, "Ólafur rowed."))
    held = tuple(Table(n, (("Who", "Oars"), (f"Ólafur {n}", "2")), "", n, n) for n in (1, 2))
    text = f"{made[0].text} {made[1].text}"
    breaks = ((0, 1), (len(made[0].text) + 1, 2))
    return Document("Fundargerð_Æskulýðs.docx", (Section(text, "", breaks),), "", pages=made, tables=held)
