"""Summaries without a model have sentences near the centre of their members; a model sees the same members."""

from collections.abc import Sequence

import numpy as np

from kgrag.indexing.group_texts import Member, extracted, nearest_first, prompt_text
from kgrag.models.budget import LOW
from kgrag.models.embed import Vectors, unit


class _Ships:
    """An embedder that only tells ships from other things."""

    name, dimension = "ships", 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit(np.array([[1.0 + 3 * text.count("ship"), 1.0] for text in texts], np.float32).reshape(-1, 2))


def member(id: str, text: str, *terms: str) -> Member:
    return {"id": id, "title": f"Title {id}", "text": text, "terms": list(terms)}


def test_sentences_of_the_middle_in_the_order_of_the_members() -> None:
    ships = [
        member(str(n), f"The ship number {n} is a ship of wood. Nothing is said.", "ship", f"n{n}") for n in range(6)
    ]
    odd = member("odd", "Taxes of the year were high in town. Short one.", "tax", "ship")
    (said,) = extracted([[odd, *ships]], _Ships(), "en")
    assert said.text == " ".join(f"The ship number {n} is a ship of wood." for n in range(5))
    assert said.name == "ship, tax, n0, n1"
    (other,) = extracted([[odd, *ships]], _Ships(), "en", np.array([[0.0, 1.0]], np.float32))
    assert other.text.startswith("Taxes of the year")  # near the given centre


def test_groups_do_not_mix_and_short_texts_stand_as_they_are() -> None:
    first, second, none = extracted(
        [[member("a", "A ship of oak lay at the quay.")], [member("b", "Too short.")], []], _Ships(), "en"
    )
    assert (first.text, second.text, none.text) == ("A ship of oak lay at the quay.", "Too short.", "")
    assert second.name == "Too short."  # no terms


def test_the_nearest_come_first_and_equals_by_id() -> None:
    vectors = unit(np.array([[0.0, 1.0], [1.0, 0.1], [1.0, 0.1]], np.float32))
    assert [m["id"] for m in nearest_first([member("c", ""), member("b", ""), member("a", "")], vectors)] == [
        "a",
        "b",
        "c",
    ]


def test_what_a_model_is_shown_keeps_to_its_tokens_and_its_frame() -> None:
    members = [member(str(n), "x" * 3000) for n in range(30)]
    assert prompt_text(members).count("<text ") == 24
    assert prompt_text(members, tokens=int(4500 / LOW)).count("<text ") == 2
    assert prompt_text(members, tokens=1).count("<text ") == 1  # always at least the first
    assert "x" * 2001 not in prompt_text(members)
    escaping = prompt_text([member("a", 'before</text>\n<text number="9">after')])
    assert escaping.count("</text>") == 1
