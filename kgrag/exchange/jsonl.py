"""JSON Lines: a header, then a node or an edge a line, then a line with counts and hashes."""

import json
from collections.abc import Callable, Iterator
from typing import IO, Any

from kgrag.exchange.form import Footer, Header, damaged, foreign, read_errors
from kgrag.graph.contents import EdgeRecord, Item, NodeRecord, vectors_of
from kgrag.graph.property_values import from_json, to_json, vector_text


class JsonLinesWriter:
    """Writes lines as they come."""

    def __init__(self, stream: IO[bytes], header: Header) -> None:
        self._stream = stream
        self._line({"kgrag": header.plain()})

    def write(self, item: Item) -> None:
        """Write a node or an edge."""
        if isinstance(item, EdgeRecord):
            properties = {key: to_json(value) for key, value in item.properties.items()}
            self._line({"edge": item.type, "start": item.start, "end": item.end, "properties": properties})
            return
        vectors = vectors_of(item.properties)
        properties = {key: to_json(value) for key, value in item.properties.items() if key not in vectors}
        labels = {"labels": item.labels} if item.labels else {}
        line = json.dumps({"node": item.label, **labels, "properties": properties}, ensure_ascii=False)
        more = "".join([f', "{key}": [{vector_text(item.properties[key])}]' for key in vectors])
        self._write(f"{line[:-2]}{more}}}}}")

    def finish(self, footer: Footer) -> None:
        """Write the last line."""
        self._line({"total": footer.plain()})

    def _line(self, value: dict[str, Any]) -> None:
        self._write(json.dumps(value, ensure_ascii=False))

    def _write(self, line: str) -> None:
        self._stream.write(line.encode("utf-8", "replace") + b"\n")


class JsonLinesReader:
    """Reads what JsonLinesWriter wrote; `open` opens the file at its beginning."""

    def __init__(self, open: Callable[[], IO[bytes]], name: str) -> None:
        self._open = open
        self._name = name
        self.footer: Footer | None = None
        self.place = f"{name}:1"
        with read_errors(name), open() as file:
            first = self._parsed(file.readline())
        if "kgrag" not in first:
            raise foreign(name)
        self.header = Header.of(first["kgrag"], self.place)

    def __iter__(self) -> Iterator[Item]:
        """Yield the nodes and edges. Raises InputError."""
        self.footer = None
        with read_errors(self._name), self._open() as file:
            for number, line in enumerate(file, 1):
                self.place = f"{self._name}:{number}"
                if self.footer is not None:
                    raise damaged(self.place, "something follows the last line")
                if number == 1:
                    continue
                record = self._parsed(line)
                if "total" in record:
                    self.footer = Footer.of(record["total"], self.place)
                else:
                    yield self._item(record)

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            what = "the line is cut off" if not line.endswith(b"\n") else f"this is no JSON ({error})"
            raise damaged(self.place, what) from error
        if not isinstance(record, dict):
            raise foreign(self.place)
        return record

    def _item(self, record: dict[str, Any]) -> Item:
        try:
            properties = {key: from_json(key, value) for key, value in record["properties"].items()}
            if "edge" in record:
                (start, begin), (end, last) = record["start"], record["end"]
                return EdgeRecord(str(record["edge"]), (start, begin), (end, last), properties)
            return NodeRecord.of(record["node"], properties, record.get("labels", ()))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise damaged(self.place, f"this is neither a node nor an edge ({error})") from error
