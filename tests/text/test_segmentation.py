"""Sentence splitting in many languages."""

import time

import pytest

from kgrag.text.sentences import sentences
from kgrag.values.errors import ConfigurationError


def test_sentences_follow_the_language() -> None:
    text = "Der Kahn war u.a. mit Teer gestrichen. Er lag in Kiel."
    assert list(sentences(text, "de")) == ["Der Kahn war u.a. mit Teer gestrichen.", "Er lag in Kiel."]
    assert list(sentences("船在港口。他来了。", "zh")) == ["船在港口。", "他来了。"]
    assert list(sentences("그 배는 항구에 있다. 그는 왔다.", "ko")) == ["그 배는 항구에 있다.", "그는 왔다."]
    assert list(sentences("Dr. Ada Lund sailed. J. R. Holt, e.g., did not.", "en")) == [
        "Dr. Ada Lund sailed.", "J. R. Holt, e.g., did not.",
    ]  # fmt: skip
    with pytest.raises(ConfigurationError, match="qq"):
        list(sentences(text, "qq"))
    assert list(sentences(" \n ", "en")) == []


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("He left Oslo.The ship sank in 1905.He died.", ["He left Oslo.", "The ship sank in 1905.", "He died."]),
        ("Call Console.WriteLine(x), Out.Println(y). Go.", ["Call Console.WriteLine(x), Out.Println(y).", "Go."]),
        ("See https://example.org/Guide.Html?a=1 and x!=y.", ["See https://example.org/Guide.Html?a=1 and x!=y."]),
        ("Is it com.Example.App?Yes.", ["Is it com.Example.App?Yes."]),
        ("出航した。The ship left.", ["出航した。", "The ship left."]),
    ],
)  # fmt: skip
def test_words_stay_whole_where_no_sentence_ends(text: str, cut: list[str]) -> None:
    assert list(sentences(text, "en")) == cut
    assert list(sentences(text, "xx")) == cut


@pytest.mark.parametrize(
    "sign", ["[", "(", "'", "“", "«", "_", "=", ".", "…", "🙂", "é's", "A.B.", "。", "“a. ", "a.B", "x.Yz"]
)
def test_runs_of_signs_take_no_longer_than_words(sign: str) -> None:
    run = sign * (60_000 // len(sign))
    began = time.monotonic()
    found = list(sentences(f"The boat sank. Then {run} came. It was late.", "en"))
    assert time.monotonic() - began < 10
    assert (found[0], found[-1]) == ("The boat sank.", "It was late.")
    assert "".join(found).replace(" ", "") == f"The boat sank. Then {run} came. It was late.".replace(" ", "")
