"""Rows of a query as a table, and its nodes and paths as a drawing."""

from collections.abc import Sequence
from itertools import zip_longest

from nicegui import ui

from kgrag.drawing import drawing
from kgrag.server.web.chart import Chart
from kgrag.server.web.session import Session
from kgrag.values.errors import InputError
from kgrag.values.rows import Rows, cell

_PAGE = 25  # rows
_LONGEST = 600  # characters of a cell


_LINKED = """<q-td :props="props">
<a v-if="props.row.to" class="nicegui-link" :href="props.row.to">{{ props.value }}</a>
<span v-else>{{ props.value }}</span>
</q-td>"""


def table(rows: Rows, links: Sequence[str] = ()) -> None:
    """The rows; long texts are cut short. `links`: for each row the address that its first cell leads to, if any."""
    columns = [
        {"name": f"c{place}", "label": name, "field": f"c{place}", "align": "left", "sortable": True}
        for place, name in enumerate(rows.columns)
    ]
    listed = [
        {"row": number, "to": to, **{f"c{place}": _shown(value) for place, value in enumerate(values)}}
        for number, (values, to) in enumerate(zip_longest(rows.values, links, fillvalue=""))
    ]
    with ui.element("div").classes("w-full overflow-x-auto").props("tabindex=0 role=region aria-label=Table"):
        shown = ui.table(rows=listed, columns=columns, row_key="row", pagination=_PAGE).classes("w-fit min-w-full")
        shown.props("flat bordered")
    if links:
        shown.add_slot("body-cell-c0", _LINKED)
    if rows.cut:
        ui.label(f"Not all of them: {rows.cut}").classes("quiet")


def picture(rows: Rows, session: Session, collection: str) -> None:
    """The nodes of the rows, drawn; nothing where there are none."""
    try:
        drawn = drawing(rows)
    except InputError:
        return
    Chart(session, collection).add(drawn)


def _shown(value: object) -> str | int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = cell(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
