"""Tokens with symbols, such as "--rcfile", are found in texts and questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.tokens import symbols


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the difference between $* and “$@”.", ["$*", "$@"]),
        ("? ($?) Expands to the status.", ["?", "$?"]),
        ("What is ${parameter:−word}?", ["${parameter:-word", "${"]),  # a minus sign of a PDF is a hyphen
        ("&>word (see `--rcfile`, -nt and \\w)", ["&>word", "&>", "--rcfile", "-nt", "\\w"]),
        ("Essential: yes, in /var/cache/ or ~/notes.txt", ["Essential:", "/var/cache", "~/notes.txt"]),
        ("(x || g) ** C++ a=b std::sort", ["||", "**", "C++", "a=b", "std::sort"]),
        ("Plain text, it's 1,000 well-known (and/or so): e.g. this - and “that”!", ["1000"]),
    ],
)
def test_symbols(text: str, found: list[str]) -> None:
    assert symbols(text) == found


@given(st.text())
def test_symbols_of_any_text_hold_no_space(text: str) -> None:
    assert all(symbol.split() == [symbol] for symbol in symbols(text))
