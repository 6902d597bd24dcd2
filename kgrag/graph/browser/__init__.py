"""Files for Neo4j Browser: the style of the graph, a guide through it, and the address to connect.

The local server serves both files next to Browser itself (`local.home`), so that Browser is allowed to fetch them.
"""

import html
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from urllib.parse import quote

from kgrag.graph.description import NodeKind, describe
from kgrag.graph.schema import label_of

STYLE = "kgrag/kgrag.grass"
GUIDE = "kgrag/guide.html"
"""The path of the two files below the address of their server: the local server's Browser, or `kgrag browser`."""

_AHEAD = range(1, 100)
_NODE = {
    "diameter": "50px", "color": "#A5ABB6", "border-color": "#7F8690", "border-width": "2px",
    "text-color-internal": "#FFFFFF", "font-size": "10px", "caption": '"{name}"',
}  # fmt: skip
_EDGE = {
    "color": "#A5ABB6", "shaft-width": "1px", "font-size": "8px", "padding": "3px", "text-color-external": "#4A4F57",
    "text-color-internal": "#FFFFFF", "caption": '"<type>"',
}  # fmt: skip
"""The default look of nodes and relationships; kgrag's own ones override parts of it."""
_DEMO = ("demo", "roosevelt", "rockwell kent")


def style(numbers: Iterable[int] = _AHEAD) -> str:
    """Return the style sheet (.grass) of every label and relationship type.

    `numbers`: the collections whose second labels (Passage_c7) get the same colours as the first labels in the legend;
    by default the first 99.
    """
    rules = [_rule("node", _NODE), _rule("relationship", _EDGE)]
    for node in describe().by_layer():
        look = {"diameter": f"{node.style['diameter']}px", **_colours(node), "caption": _NODE["caption"]}
        rules.append(_rule(f"node.{node.label}", look))
    for edge in describe().edges:
        look = {"color": edge.style["color"]}
        if "width" in edge.style:
            look["shaft-width"] = f"{edge.style['width']}px"
        rules.append(_rule(f"relationship.{edge.type}", look))
    for n in numbers:
        rules += [_rule(f"node.{label_of(node.label, n)}", _colours(node)) for node in describe().nodes if node.indexed]
    return "\n".join(rules)


def _colours(node: NodeKind) -> dict[str, str]:
    style = node.style
    return {"color": style["color"], "border-color": style["border"], "text-color-internal": style["text"]}


def _rule(selector: str, look: Mapping[str, str]) -> str:
    return "\n".join([f"{selector} {{", *(f"  {key}: {value};" for key, value in look.items()), "}\n"])


def guide(collection: str, start: str, goal: str, place: str) -> str:
    """Return the guide to a collection, HTML slides for `:play` and `:guide`.

    `start`, `goal`: the normal forms of the names at the start and the end of the walk; `place`: the address of the
    folder with the two files.
    """
    texts = {
        "collection": collection,
        "literal": _literal(collection),
        "start": _literal(start),
        "goal": _literal(goal),
        "guide": place + GUIDE,
        "style": place + STYLE,
    }
    source = files(__name__).joinpath("guide.html").read_text(encoding="utf-8")
    return re.sub(rf"\{{({'|'.join(texts)})\}}", lambda match: html.escape(texts[match[1]]), source)


def demo_guide(place: str) -> str:
    """Return the guide to the collection that `kgrag demo` makes."""
    return guide(*_DEMO, place)


def steps(page: str) -> list[tuple[str, str]]:
    """Return the title and the first query of each slide of a guide."""
    lines = []
    for slide in re.findall(r"<slide>(.*?)</slide>", page, re.DOTALL):
        title = re.search(r"<h3>(.*?)</h3>", slide, re.DOTALL)
        query = re.search(r"<pre class=\"runnable\">(.*?)</pre>", slide, re.DOTALL)
        if title and query:
            lines.append((html.unescape(title[1]), html.unescape(query[1]).strip()))
    return lines


def connect_address(browser: str, uri: str, user: str) -> str:
    """Return the address of Browser with the connection filled in; Browser prompts for the password."""
    scheme, _, place = uri.partition("://")
    return f"{browser}?dbms={quote(f'{scheme}://{user}@{place}', safe=':/@')}"


def _literal(text: str) -> str:
    """Return `text` for single quotes in Cypher."""
    return text.replace("\\", "\\\\").replace("'", "\\'")
