"""Where in a ranking the gold of a question stands: by the document that was found, or by the text that was.

Where a data set names no gold, what is looked for is the answer: the passage in which it stands.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kgrag.lab.datasets import GoldText, Question
from kgrag.text.tokens import tokens
from kgrag.values.documents import Document
from kgrag.values.results import Ranking

WORDS = 4  # of a run; fewer would be shared by chance (of the, in the year)
SHARE = 0.5
_ANSWER_TOKEN = re.compile(r"\w+|[^\w\s]")


def distinct_documents(ranking: Ranking) -> tuple[str, ...]:
    """Return the keys of the passages' documents, each once, at the place of its first passage."""
    return tuple(dict.fromkeys(hit.passage.document for hit in ranking))


def answer_rank(ranking: Ranking, answers: Iterable[str]) -> int | None:
    """Return the rank of the first passage with an answer, its title included; None if there is none.

    An answer stands where its tokens follow each other: words and single marks, in lower case. The share of questions
    with a rank of at most k is the top-k accuracy of Karpukhin et al., Dense Passage Retrieval (2020), section 5.
    """
    wanted = [tokens for answer in answers if (tokens := _answer_tokens(answer)).strip()]
    for rank, hit in enumerate(ranking, 1):
        text = _answer_tokens(f"{hit.passage.title}\n{hit.passage.text}")
        if any(answer in text for answer in wanted):
            return rank
    return None


def unanswerable(questions: Iterable[Question], documents: Iterable[object]) -> list[Question]:
    """Return the questions without an answer in any of the documents, by `answer_rank`."""
    open_ = {question.id: question for question in questions}
    wanted: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)  # first token -> answers, question ids
    for question in open_.values():
        for answer in map(_answer_tokens, question.answers):
            if answer.strip():
                wanted[answer.split(maxsplit=1)[0]].append((answer, question.id))
    for document in documents:
        if isinstance(document, Document):
            text = _answer_tokens(f"{document.title}\n{document.text}")
            for token in wanted.keys() & set(text.split()):
                for answer, id in wanted[token]:
                    if answer in text:
                        open_.pop(id, None)
    return list(open_.values())


def _answer_tokens(text: str) -> str:
    """Return the tokens of a text, each between spaces."""
    return f" {' '.join(_ANSWER_TOKEN.findall(unicodedata.normalize('NFC', text).lower()))} "


def text_ranks(
    ranking: Ranking, gold: Sequence[str], texts: Mapping[str, GoldText], share: float = SHARE
) -> tuple[int | None, ...]:
    """Return the rank of each gold whose text is a part of a document: that of the passage that completes it.

    A gold text is taken as its distinct runs of WORDS words (of all its words, if it has fewer), words in normal form.
    It is found at the first passage at which the passages of its document so far, taken together, hold `share` of these
    runs. Two passages of which each holds nearly half of it thus find it at the second; passages of the same document
    that share only common words with it do not find it. Ranks count passages, so two golds may have the same rank.
    """
    missing = {key: _runs(texts[key].text) for key in gold if key in texts}
    allowed = {key: len(runs) * (1 - share) for key, runs in missing.items()}
    found: dict[str, int] = {}
    for rank, hit in enumerate(ranking, 1):
        here = [k for k in missing if k not in found and texts[k].document == hit.passage.document]
        for key in here:
            missing[key] -= _runs(hit.passage.text, _length(texts[key].text))
            if len(missing[key]) <= allowed[key]:
                found[key] = rank
    return tuple(found.get(key) for key in gold)


def _length(text: str) -> int:
    return min(WORDS, len(tokens(text)))


def _runs(text: str, length: int | None = None) -> set[tuple[str, ...]]:
    words = [t.norm for t in tokens(text)]
    n = length or min(WORDS, len(words))
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)} if n else set()
