"""GraphML as other programs read it: typed keys, content invalid in XML, and ids that distinguish labels."""

import io
import json
from pathlib import Path
from xml.etree import ElementTree

from kgrag.exchange.files import Footer, GraphMLWriter, Header
from kgrag.graph.contents import EdgeRecord, Fingerprint, Item, NodeRecord
from kgrag.graph.property_values import parsed

_NS = "{http://graphml.graphdrawing.org/xmlns}"
_HEADER = Header("c", 4, "0.1.0", "e" * 32, "2026-11-21T18:00:00+00:00")


def written(folder: Path, *items: Item) -> ElementTree.Element:
    stream, found = io.BytesIO(), Fingerprint()
    writer = GraphMLWriter(stream, _HEADER, folder)
    for item in items:
        writer.write(item)
        found.add(item)
    writer.finish(Footer.sum(found))
    assert not list(folder.iterdir()), "the file that waited is gone"
    return ElementTree.fromstring(stream.getvalue())


def test_nodes_and_edges_with_typed_keys(tmp_path: Path) -> None:
    moment = parsed("datetime", "2026-11-21T18:00:00.000000000+01:00[Europe/Berlin]")
    properties = {"id": "p", "n": 3, "x": 0.5, "good": True, "tags": ["a", "b"], "at": moment, "embedding": [0.25, 1.0]}
    root = written(
        tmp_path,
        NodeRecord("Passage", "p", properties, ("Mine",)),
        NodeRecord("Document", "p", {"id": "p", "n": "three"}),
        EdgeRecord("NEXT", ("Passage", "p"), ("Document", "p"), {"n": 3}),
        EdgeRecord("NEXT", ("Document", "p"), ("Passage", "p"), {}),
    )
    keys = {key.get("id"): key for key in root.iter(f"{_NS}key")}
    graph = root.find(f"{_NS}graph")
    assert graph is not None

    def data(element: ElementTree.Element) -> dict[str, tuple[str | None, str | None, str | None]]:
        """Return name -> type, type in Neo4j, text."""
        found = {}
        for each in element.findall(f"{_NS}data"):
            key = keys[each.get("key")]
            found[str(key.get("attr.name"))] = (key.get("attr.type"), key.findtext(f"{_NS}desc"), each.text)
        return found

    passage, document = graph.findall(f"{_NS}node")
    assert (passage.get("id"), document.get("id")) == ("Passage:p", "Document:p")
    assert data(passage) == {
        "labels": ("string", None, ":Passage:Mine"), "id": ("string", "string", "p"),
        "n": ("long", "long", "3"), "x": ("double", "double", "0.5"), "good": ("boolean", "boolean", "true"),
        "tags": ("string", "string[]", '["a", "b"]'),
        "at": ("string", "datetime", "2026-11-21T18:00:00.000000000+01:00[Europe/Berlin]"),
        "embedding": ("string", "float[]", "[0.25, 1]"),
    }  # fmt: skip
    assert data(document)["n"] == ("string", "string", "three")  # a separate key, since its type differs
    first, second = graph.findall(f"{_NS}edge")
    assert (first.get("source"), first.get("target")) == ("Passage:p", "Document:p")
    assert first.get("id") != second.get("id")
    assert data(first) == {"label": ("string", None, "NEXT"), "n": ("long", "long", "3")}
    head, end = (each.text for each in graph.findall(f"{_NS}data"))
    assert json.loads(str(head))["collection"] == "c"
    assert json.loads(str(end))["Passage"][0] == 1


def test_what_xml_cannot_hold(tmp_path: Path) -> None:
    text = 'a & b < "c" > \r\n\t\x00\ufffe _x0041_ _x'
    root = written(tmp_path, NodeRecord("Passage", 'p"\n<', {"text": text}))
    node = next(root.iter(f"{_NS}node"))
    assert node.get("id") == 'Passage:p"\n<'
    _, data = node.findall(f"{_NS}data")
    assert data.text == 'a & b < "c" > \r\n\t_x0000__xFFFE_ _x005F_x0041_ _x'
