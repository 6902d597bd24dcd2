"""What is asked next, after some passages were found: the words that an encoder is given, in training and in search.

Source: MDR, as in KGP, appendix A.2.1: the question and the passages so far are one new question.
"""

from collections.abc import Iterable

_LETTERS = 4000  # an encoder reads less


def so_far(question: str, passages: Iterable[tuple[str, str]]) -> str:
    """Return a question with the (title, text) of the earlier passages, in their order."""
    read = (f"{title}: {text}" if title else text for title, text in passages)
    return "\n".join([question, *read])[:_LETTERS]
