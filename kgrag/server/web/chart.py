"""A part of the graph, drawn: names in the colours of Neo4j Browser; what is chosen can be opened, expanded, pinned.

Where a node stands is worked out here, so that it stays there when others join it. The picture itself cannot be
read out: the list of nodes beside it leads to the same.
"""

from collections import Counter
from typing import Any

import numpy as np
import rustworkx
from nicegui import ui
from nicegui.events import GenericEventArguments
from numpy.typing import NDArray

from kgrag.drawing import Drawing, DrawnNode, drawing, look
from kgrag.server.web.addresses import address
from kgrag.server.web.session import Session

Places = NDArray[np.float64]
"""Where nodes stand: across and down."""

MOST = 300
"""Nodes that one picture shows."""

_AROUND = 40  # edges that an expanded node brings
_FIELD = np.array([800.0, 500.0])  # half the width and half the height that nodes are laid out in
_SIZE = 0.55  # of the circles in Neo4j Browser
_FEW = 40  # nodes that leave circles as large as that; of more they are smaller, so that all cover as much
_CROWD = 150  # nodes from which on they are spread evenly, however closely they are tied
_PLACES = """(() => {
  const data = getElement(%d).chart.getModel().getSeriesByIndex(0).getData();
  return Array.from({length: data.count()}, (_, i) => [data.getId(i), ...data.getItemLayout(i)]);
})()"""


class Chart:
    """A picture that starts empty. Names are given by the nodes of one collection."""

    def __init__(self, session: Session, collection: str) -> None:
        self._session, self._collection = session, collection
        self._nodes: dict[str, DrawnNode] = {}
        self._edges: dict[tuple[str, str, str], str] = {}
        self._places: dict[str, Places] = {}
        self._pinned: set[str] = set()
        self._hidden: set[str] = set()
        self._by_name: dict[tuple[str, str], str] = {}
        with ui.element("div").classes("w-full min-w-0 flex flex-col gap-2"):
            self._kinds = ui.row().classes("items-center gap-x-3 gap-y-0")
            self._cut = ui.label(f"Only {MOST} nodes are drawn; remove some to see more.").classes("quiet")
            self._cut.visible = False
            self._chart = ui.echart(_options([], [], [])).classes("w-full")
            self._chart.on("componentClick", self._clicked, ["dataType", "data"])
            self._chart.style("height: min(70vh, 36rem)").props("role=img aria-label='Part of the graph'")
            with ui.row().classes("w-full items-center gap-2"):
                self._list = ui.select({}, label="Node", with_input=True, on_change=lambda e: self._choose(e.value))
                self._list.classes("grow min-w-48")
                ui.button("Arrange again", icon="blur_on", on_click=self._arrange).props("flat no-caps")
            self._chosen = ui.element("section").classes("panel").props("aria-live=polite")
            self._chosen.visible = False

    def add(self, drawn: Drawing) -> None:
        """Draw these, too."""
        ids = {node.id: self._join(node) for node in drawn.nodes.values()}
        for edge in drawn.edges.values():
            start, end = ids[edge.start], ids[edge.end]
            if start in self._nodes and end in self._nodes:
                self._edges.setdefault((start, end, edge.caption), edge.type)
        self._lay(self._places.keys())
        self._show()

    def _join(self, node: DrawnNode) -> str:
        """Add a node under its own id; one that a trail knows by its name alone is the same as the graph's."""
        id = str(node.properties.get("id", node.id))
        if node.label == "Entity":
            id = self._by_name.setdefault((node.label, node.caption), id)
        self._cut.visible = id not in self._nodes and len(self._nodes) >= MOST
        if id not in self._nodes and not self._cut.visible:
            self._nodes[id] = node
        return id

    def _lay(self, fixed: Any) -> None:
        """Find places for all nodes but those that stay where they are."""
        ids = list(self._nodes)
        number = {id: place for place, id in enumerate(ids)}
        graph = rustworkx.PyGraph()
        graph.add_nodes_from(ids)
        graph.add_edges_from_no_data([(number[start], number[end]) for start, end, _ in self._edges])
        kept = {number[id] for id in fixed if id in number}
        if len(kept) == len(ids):
            return
        places = {number[id]: tuple(at / _FIELD) for id, at in self._places.items() if id in number}
        for node in graph.node_indices():  # what is new begins beside what it is tied to
            if kept and node not in places:
                x, y = next((places[other] for other in graph.neighbors(node) if other in places), (0.0, 0.0))
                places[node] = (x + 0.05 * (node % 7 - 3), y + 0.05 * (node % 5 - 2))
        laid = rustworkx.spring_layout(graph, pos=places if kept else None, fixed=kept or None, num_iter=200, seed=1)
        found = np.array([laid[node] for node in graph.node_indices()])
        self._places = dict(zip(ids, (found if kept else _spread(found)) * _FIELD, strict=True))

    def _show(self) -> None:
        kinds = Counter(node.label for node in self._nodes.values())
        shown = {id: node for id, node in self._nodes.items() if node.label not in self._hidden}
        labels = list(kinds)
        ties = Counter(id for edge in self._edges for id in edge[:2])
        size = _SIZE * min(1.0, (_FEW / max(1, len(shown))) ** 0.5)
        nodes = [
            self._circle(node, id, labels.index(node.label), size * (1 + ties[id] ** 0.5 / 8))
            for id, node in shown.items()
        ]
        edges = [
            {
                "source": start,
                "target": end,
                "value": caption,
                "lineStyle": {"color": look("relationship", type)[0]},
            }
            for (start, end, caption), type in self._edges.items()
            if start in shown and end in shown
        ]
        self._chart.options.clear()
        self._chart.options.update(_options(labels, nodes, edges))
        self._chart.update()
        self._list.set_options({id: f"{node.caption} ({node.label})" for id, node in shown.items()})
        self._kinds.clear()
        with self._kinds:
            for kind, number in kinds.items():
                with ui.row().classes("items-center gap-0 no-wrap"):
                    ui.icon("circle").style(f"color: {look('node', kind)[0]}").props("aria-hidden=true")
                    box = ui.checkbox(f"{kind} ({number})", value=kind not in self._hidden)
                    box.on_value_change(lambda e, kind=kind: self._filter(kind, e.value))

    def _circle(self, node: DrawnNode, id: str, kind: int, size: float) -> dict[str, Any]:
        """A node; `size`: how large its circle is, beside that in Neo4j Browser."""
        x, y = map(float, self._places[id])
        pinned = {"borderColor": "#b3261e", "borderWidth": 3} if id in self._pinned else {}
        return {
            "id": id,
            "name": node.caption,
            "x": x,
            "y": y,
            "category": kind,
            "symbolSize": look("node", node.label)[1] * size,
            "itemStyle": pinned,
        }

    async def _filter(self, kind: str, shown: bool) -> None:
        await self._see()
        self._hidden ^= {kind} if shown == (kind in self._hidden) else set()
        self._show()

    async def _arrange(self) -> None:
        await self._see()
        self._lay(self._pinned)
        self._show()

    async def _see(self) -> None:
        """Learn where nodes were dragged to."""
        for id, x, y in await ui.run_javascript(f"return {_PLACES % self._chart.id}") or ():
            self._places[id] = np.array([x, y])

    def _clicked(self, event: GenericEventArguments) -> None:
        if event.args.get("dataType") == "node":
            self._list.value = event.args["data"]["id"]

    def _choose(self, id: str | None) -> None:
        """Show what a node is, and what can be done with it."""
        self._chosen.clear()
        self._chosen.visible = id in self._nodes
        if id is None or id not in self._nodes:
            return
        node = self._nodes[id]
        name = str(node.properties.get("name", node.id.removeprefix(f"{node.label} ")))
        with self._chosen:
            ui.label(f"{node.caption} ({node.label})").classes("font-semibold text")
            if text := node.properties.get("text"):
                ui.label(str(text)).classes("text text-sm")
            with ui.row().classes("items-center gap-2"):
                if node.label in ("Entity", "Passage", "Document"):
                    ui.button("Expand", icon="open_in_full", on_click=lambda: self._expand(id, name)).props(
                        "flat no-caps"
                    )
                pin = "Let go" if id in self._pinned else "Pin"
                ui.button(pin, icon="push_pin", on_click=lambda: self._pin(id)).props("flat no-caps")
                ui.button("Remove", icon="visibility_off", on_click=lambda: self._remove(id)).props("flat no-caps")
                if node.label == "Passage":
                    ui.link("Open", address("passage", self._collection, id))
                elif node.label == "Entity":
                    ui.link("Explore", address("explore", collection=self._collection, name=name))

    async def _expand(self, id: str, name: str) -> None:
        await self._see()
        label = self._nodes[id].label
        if label == "Passage":
            found = await self._session.around(id, self._collection)
        elif label == "Entity":
            found = await around_entity(self._session, self._collection, name)
        else:
            key = str(self._nodes[id].properties.get("key", name))
            rows = await self._session.saved_query("document", {"document": key, "edges": _AROUND}, self._collection)
            found = drawing(rows)
        self.add(found)

    async def _pin(self, id: str) -> None:
        await self._see()
        self._pinned ^= {id}
        self._show()
        self._choose(id)

    async def _remove(self, id: str) -> None:
        await self._see()
        del self._nodes[id], self._places[id]
        self._pinned.discard(id)
        self._by_name = {key: its for key, its in self._by_name.items() if its != id}
        self._edges = {edge: type for edge, type in self._edges.items() if id not in edge[:2]}
        self._list.value = None
        self._show()


async def around_entity(session: Session, collection: str, name: str) -> Drawing:
    """What surrounds a name. Raises InputError where there is no such name."""
    return drawing(await session.saved_query("around", {"entity": name, "edges": _AROUND}, collection))


def _spread(places: Places) -> Places:
    """Places [nodes, 2] between -1 and 1; the more there are, the more evenly they fill that, in the same order."""
    low, high = places.min(axis=0), places.max(axis=0)
    found = (places - low) / np.maximum(high - low, 1e-9)
    even = places.argsort(axis=0).argsort(axis=0) / max(1, len(places) - 1)
    share = 0.7 * min(1.0, len(places) / _CROWD)
    mixed: Places = 2 * ((1 - share) * found + share * even) - 1
    return mixed


def _options(kinds: list[str], nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tooltip": {"renderMode": "richText", "confine": True},
        "animation": False,
        "series": [
            {
                "type": "graph",
                "layout": "none",
                "left": 70,
                "right": 70,
                "top": 20,
                "bottom": 40,
                "preserveAspect": "contain",
                "roam": True,
                "draggable": True,
                "categories": [{"name": kind, "itemStyle": {"color": look("node", kind)[0]}} for kind in kinds],
                "data": nodes,
                "links": edges,
                "edgeSymbol": ["none", "arrow"],
                "edgeSymbolSize": 7,
                "lineStyle": {"opacity": 0.5},
                "label": {
                    "show": True,
                    "position": "bottom",
                    "color": "#10161d",
                    "textBorderColor": "#ffffff",
                    "textBorderWidth": 3,
                    "fontSize": 11,
                    "minMargin": 6,
                    "width": 130,
                    "overflow": "truncate",
                },
                "labelLayout": {"hideOverlap": True},
                "emphasis": {"focus": "adjacency", "label": {"overflow": "break"}},
                "scaleLimit": {"min": 0.2, "max": 8},
            }
        ],
    }
