"""Sixty features of documents, each a few blocks under its own heading, and the expected text."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked part of a line; `more`: an address, TeX, a label, or an author's notation."""

    kind: str
    text: str = ""
    more: str = ""


Line = Sequence[str | Mark]


@dataclass(frozen=True, slots=True)
class Para:
    """A paragraph; `kind`: "" or "quote", "caption", "box" (a frame beside the text), "running" (a head or foot)."""

    line: Line
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """A heading; `number`: the automatic number."""

    level: int
    text: str
    number: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `kind`: "-", "1", "a", "i"; an item may have a list after its line."""

    kind: str
    items: "Sequence[tuple[str, Items | None]]"
    start: int = 1


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of code."""

    text: str


@dataclass(frozen=True, slots=True)
class Maths:
    """A displayed formula in TeX."""

    tex: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule."""


@dataclass(frozen=True, slots=True)
class Defs:
    """Terms and their definitions."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tasks:
    """A list of done and open tasks."""

    pairs: Sequence[tuple[bool, str]]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its paragraphs, or a list or a table in it, and the rows and columns that it covers."""

    inner: "Sequence[Para | Items | Grid]"
    down: int = 1
    across: int = 1


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, whose first `heads` rows are its header."""

    rows: Sequence[Sequence[Cell]]
    heads: int = 1


Block = Para | Head | Items | Code | Maths | Rule | Defs | Tasks | Grid


@dataclass(frozen=True, slots=True)
class Feature:
    """A name, its blocks, the text of its section ("" for no section), and the passage of its tables."""

    name: str
    blocks: Sequence[Block]
    text: str = ""
    table: str = ""
    below: dict[str, str] = field(default_factory=dict)
    """Texts under the feature's own headings."""


Features = Sequence[Feature]


def _cell(text: str | Cell) -> Cell:
    return Cell([Para([text])]) if isinstance(text, str) else text


def grid(*rows: Sequence[str | Cell], heads: int = 1) -> Grid:
    """Return a table of texts."""
    return Grid([[_cell(cell) for cell in row] for row in rows], heads)


def over(text: str, down: int = 1, across: int = 1) -> Cell:
    """Return a cell that covers others."""
    return Cell([Para([text])], down, across)


def line(name: str, *parts: str | Mark, is_: str) -> Feature:
    """Return a feature that is one paragraph."""
    return Feature(name, [Para(parts)], is_)


LONG = 60
TEXTS = {  # name -> an unchanged text, or a text with its result
    "thousands": "1,234,567.89 and 1.234.567,89",
    "accounting": "(1,234.50) and -1,234.50 and −7",
    "percentages": "12.5% and 7 % and 3‰",
    "currencies": "$5.20, €3,50, £7, ¥100 and 5 kr",
    "dates": "31.12.2023, 12/31/2023, 2023-12-31 and 3 May 2024",
    "versions": "1.10 is newer than 1.9 and v2.0.0-rc.1",
    "times": "09:05, 23:59:59 and 7:30 p.m.",
    "leading zeros": "007 and 0042",
    "scientific": "6.02e23 and 1.5E-7 and 3 × 10",
    "phones": "+47 22 12 34 56 and (555) 010-9999",
    "isbn": "ISBN 978-3-16-148410-0",
    "no-break spaces": ("10\u00a0kg and 5\u202f000", "10 kg and 5 000"),
    "soft hyphens": ("a data\u00adbase", "a database"),
    "zero width": ("Ber\u200bgen and word\u2060joiner", "Bergen and wordjoiner"),
    "ligatures": ("ﬁsh and oﬃce", "fish and office"),
    "quotes": "“one” ‘two’ «three» „four“",
    "dashes": "1914–1918 — a war",
    "emoji": "👩‍🔬 and 🇳🇴 and ✅",
    "accents": ("Zu\u0308rich and Malmo\u0308", "Zürich and Malmö"),
    "right to left": "שלום עולם and العربية", "cjk": "東京都は日本の首都です。",
    "angles": "Set <your-api-key> for List<String> if a<b", "ampersands": "AT&T, R&D and Q&A",
    "backslashes": r"C:\temp\new and \alpha", "underscores": "snake_case_name and file_2_a.txt",
    "asterisks": "2*3*4 and 5 * 6 * 7", "dollars": "It cost $5 and $6, or US$7.",
}  # fmt: skip

FEATURES = [
    *(
        line(name, text if isinstance(text, str) else text[0], is_=text if isinstance(text, str) else text[1])
        for name, text in TEXTS.items()
    ),
    line("superscript", "It has 10", Mark("up", "24"), " kg.", is_="It has 10^24 kg."),
    line("subscript", "H", Mark("low", "2"), "O and x", Mark("low", "i"), " too.", is_="H2O and x_i too."),
    line("code", "Call ", Mark("code", "f(a*b) "), "now.", is_="Call f(a*b) now."),
    Feature("code block", [Code("if a:\n    b(1)\nend")], "if a:\n    b(1)\nend"),
    line("mathematics", "So ", Mark("math", "x^2", "x^{2}"), " it is.", is_="So $x^{2}$ it is."),
    Feature("display", [Para(["As seen:"]), Maths("x^{2}")], "As seen:\n\n$$x^{2}$$"),
    line("hard break", "one", Mark("br"), "two", is_="one\ntwo"),
    line("soft break", "one", Mark("soft"), "two", is_="one two"),
    line("footnote", "It cost 45", Mark("note", "A note, 3.", "1"), " million.", is_="It cost 45 [1] million."),
    line("endnote", "It took 12", Mark("endnote", "The end.", "i"), " days.", is_="It took 12 [i] days."),
    Feature("nested list", [Items("-", [("one", Items("-", [("in", Items("1", [("deep", None)]))])), ("two", None)])],
            "- one\n  - in\n    1. deep\n- two"),
    Feature("from five", [Items("1", [("five", None), ("six", None)], 5)], "5. five\n6. six"),
    Feature("letters", [Items("a", [("first", None), ("second", None)])], "a. first\nb. second"),
    Feature("roman", [Items("i", [("first", None), ("second", None)], 3)], "iii. first\niv. second"),
    Feature("definitions", [Defs([("Mill", "It grinds."), ("Ship", "It sails.")])],
            "Mill\n\nIt grinds.\n\nShip\n\nIt sails."),
    Feature("tasks", [Tasks([(True, "done"), (False, "open")])], "- [x] done\n- [ ] open"),
    Feature("quote", [Para(["He said."]), Para(["Quoted."], "quote")], "He said.\n\nQuoted."),
    Feature("headings", [Head(3, "Third"), Head(4, "Fourth"), Head(5, "Fifth"), Head(6, "Sixth"), Para(["Low."])],
            below={"headings > Third > Fourth > Fifth > Sixth": "Low."}),
    Feature("numbered", [Head(3, "Aim", "1."), Para(["So."]), Head(3, "Way", "2."), Head(4, "Short", "2.1"),
                         Para(["Go."])],
            below={"numbered > 1. Aim": "So.", "numbered > 2. Way > 2.1 Short": "Go."}),
    line("strike", "It is ", Mark("strike", "wrong"), " right.", is_="It is right."),
    line("hidden", "Seen", Mark("hidden", " NEVER"), " it.", is_="Seen it."),
    line("revisions", "It is ", Mark("ins", "new"), Mark("del", "OLD"), ".", is_="It is new."),
    line("comments", "Said", Mark("comment", "REMARK"), " it.", is_="Said it."),
    Feature("caption", [Para(["Above."]), Para(["Figure 1: The mill"], "caption")], "Above.\n\nFigure 1: The mill"),
    line("image", "See ", Mark("image", "A red mill"), " there.", is_="See A red mill there."),
    line("link", "See ", Mark("link", "the site", "https://x.example"), ".", is_="See the site."),
    line("address", "See https://x.example/a_b?c=1&d=2 there.", is_="See https://x.example/a_b?c=1&d=2 there."),
    Feature("table", [grid(["Ship", "Built"], ["Fram", "1892"])], table="Ship: Fram; Built: 1892."),
    Feature("two header rows",
            [grid([over("Ship", 2), over("Sales", 1, 2)], ["2020", "2021"], ["Fram", "5", "6"], heads=2)],
            table="Ship: Fram; Sales 2020: 5; Sales 2021: 6."),
    Feature("row span", [grid(["Sea", "Port"], [over("North", 2), "Oslo"], ["Bergen"])],
            table="Sea: North; Port: Oslo.\nSea: North; Port: Bergen."),
    Feature("column span", [grid(["Sea", "Port", "Dock"], ["North", over("closed", 1, 2)], ["South", "a", "b"])],
            table="Sea: North; Port: closed; Dock: closed.\nSea: South; Port: a; Dock: b."),
    Feature("both spans",
            [grid(["Sea", "Port", "Dock"], ["North", over("closed", 2, 2)], ["South"], ["West", "a", "b"])],
            table="Sea: North; Port: closed; Dock: closed.\nSea: South; Port: closed; Dock: closed.\n"
                  "Sea: West; Port: a; Dock: b."),
    Feature("empty cells", [grid(["Ship", "Built", "Lost"], ["Fram", "", "no"], ["", "1916", ""])],
            table="Ship: Fram; Lost: no.\nBuilt: 1916."),
    Feature("list in a cell",
            [grid(["Ship", "Ports"], ["Fram", Cell([Items("-", [("Oslo", None), ("Bergen", None)])])])],
            table="Ship: Fram; Ports: Oslo, Bergen."),
    Feature("break in a cell",
            [grid(["Ship", "Ports"], ["Fram", Cell([Para(["Oslo", Mark("br"), "Bergen"])])])],
            table="Ship: Fram; Ports: Oslo Bergen."),
    Feature("table in a table",
            [grid(["Left", Cell([grid(["Ship", "Built"], ["Fram", "1892"])])], ["Low", "end"])],
            "Left\n\nLow\n\nend", "Ship: Fram; Built: 1892."),
    Feature("pipes", [grid(["Name", "Means"], ["a|b", "or"])], table="Name: a|b; Means: or."),
    Feature("long table", [grid(["Number", "Square"], *([str(n), str(n * n)] for n in range(LONG)))],
            table="\n".join(f"Number: {n}; Square: {n * n}." for n in range(LONG))),
    Feature("rule", [Para(["Above."]), Rule(), Para(["Below."])], "Above.\n\nBelow."),
    line("entities", "a ", Mark("entity", "é ©", "&eacute; &copy;"), " b", is_="a é © b"),
    line("symbols", "The angle ", Mark("symbol", "α → ≤"), ".", is_="The angle α → ≤."),
    line("fields", "On page ", Mark("field", "12"), " of it.", is_="On page 12 of it."),
    Feature("text box", [Para(["Around."]), Para(["In the box."], "box"), Para(["After."])],
            "Around.\n\nIn the box.\n\nAfter."),
    Feature("running heads", [Para(["Body."]), Para(["RUNNING"], "running")], "Body."),
    line("anchors", "A ", Mark("anchor", "place"), " here.", is_="A place here."),
]  # fmt: skip
assert len(FEATURES) >= 60
NOTES = "[1] A note, 3.\n\n[i] The end."
