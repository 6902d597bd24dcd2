"""Ids of an import under another name: those that an ingest under it would have given."""

import pytest

from kgrag.exchange.rename import PREFIX, _id
from kgrag.values import identity
from kgrag.values.errors import InputError


def test_ids_are_those_of_an_ingest_under_that_name() -> None:
    document = identity.document_id("new", "key")
    row = {"id": f"{PREFIX}{identity.document_id('old', 'key')}", "home": None, "parts": ["key"], "key": "key"}
    assert _id("Document", row, "old", "new", PREFIX) == document
    content = "\x1f".join(("Title", "Section", "text"))
    for occurrence in (0, 1, 7):  # of the same text in a document
        old = identity.passage_id(identity.document_id("old", "key"), content, occurrence)
        row = {"id": PREFIX + old, "home": document, "parts": ["Title", "Section", "text"], "key": "key"}
        assert _id("Passage", row, "old", "new", PREFIX) == identity.passage_id(document, content, occurrence)


def test_a_passage_that_was_changed_by_hand_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.exchange.rename._MOST", 50)
    row = {"id": f"{PREFIX}{'0' * 32}", "home": "x", "parts": ["Title", "", "changed"], "key": "key"}
    with pytest.raises(InputError, match="does not follow from its document and text") as error:
        _id("Passage", row, "old", "new", PREFIX)
    assert "kgrag delete --collection new --yes" in error.value.remedy
