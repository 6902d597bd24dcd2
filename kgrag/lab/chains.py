"""Questions with the passages that lead to their answers, in order of the reasoning."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kgrag.lab.datasets import Dataset, GoldText, Question
from kgrag.retrieval.mdr import so_far
from kgrag.text.sentences import sentences
from kgrag.text.tokens import embedding_text, is_content, stems, tokens
from kgrag.values.documents import Document
from kgrag.values.events import Progress

Fact = tuple[str, str]
"""The title and text of a passage, or of one of its sentences."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A question with the facts that lead to its answer, in order, and their keys among all facts."""

    question: str
    keys: tuple[str, ...]
    facts: tuple[Fact, ...]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The query of each fact (the question and the facts before it), and the fact's own text."""
        return [(so_far(self.question, self.facts[:i]), text_of(fact)) for i, fact in enumerate(self.facts)]


def text_of(fact: Fact) -> str:
    """Return the text of a passage as a collection embeds it."""
    return embedding_text(fact[0], "", fact[1])


def read_documents(data: Dataset, progress: Progress) -> dict[str, Document]:
    """Return the documents of the corpus by their keys."""
    documents: dict[str, Document] = {}
    for item in data.documents():
        if isinstance(item, Document):
            documents[item.key] = item
            progress("reading", len(documents), None)
    return documents


def read_corpus(data: Dataset, progress: Progress) -> dict[str, Fact]:
    """Return document key -> its title and text."""
    return {key: (document.title, document.text) for key, document in read_documents(data, progress).items()}


def facts(questions: Sequence[Question], corpus: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the units of facts: documents of the corpus, or their sentences if the set names supporting sentences.

    KGP, listing 1.

    The sentences are those that the set names, and for the rest of each document the sentences of an ingest.
    """
    named: dict[str, list[GoldText]] = {}
    whole = set()
    for question in questions:
        for support in question.supports:
            named.setdefault(support.document, []).append(support)
        whole.update(set(question.gold).difference(support.document for support in question.supports))
    if not named:
        return dict(corpus)
    documents = {key: corpus[key] for key in corpus if key in whole}
    for key, (title, text) in corpus.items():
        supports = named.get(key, [])
        documents |= {support.key: (title, support.text) for support in supports}
        for sentence in sentences(text, "en") if key not in whole else ():
            if not any(sentence in support.text or support.text in sentence for support in supports):
                documents[GoldText(key, sentence).key] = (title, sentence)
    return documents


def chains(questions: Sequence[Question], corpus: Mapping[str, Fact]) -> list[Chain]:
    """Return the questions whose gold is all in the corpus, each with its facts in order.

    The facts are the sentences that the set names, in its order, or the whole document if it names no sentences. The
    documents are in the set's order if it has one, else in a guessed one (see `ordered`).
    """
    paths = []
    for question in questions:
        if question.gold and all(key in corpus for key in question.gold):
            path: dict[str, Fact] = {}
            for key in question.path or ordered(question.text, {key: corpus[key] for key in question.gold}):
                named = [support for support in question.supports if support.document == key]
                path |= {support.key: (corpus[key][0], support.text) for support in named} or {key: corpus[key]}
            paths.append(Chain(question.text, tuple(path), tuple(path.values())))
    return paths


def ordered(question: str, gold: Mapping[str, Fact]) -> tuple[str, ...]:
    """Return the gold in order of the reasoning: the next fact is always the one that the earlier ones name best.

    The best fact has the largest share of title words in the question and earlier facts, then of text words.
    """
    words, left, path = _words(question), dict(gold), []
    while left:
        key = max(left, key=lambda key: (_share(left[key][0], words), _share(left[key][1], words)))
        path.append(key)
        words |= _words(" ".join(left.pop(key)))
    return tuple(path)


def _share(text: str, vocabulary: Collection[str]) -> float:
    words = _words(text)
    return len(words & set(vocabulary)) / len(words) if words else 0.0


def _words(text: str) -> set[str]:
    return set(content_stems(text))


def content_stems(text: str) -> list[str]:
    """Return the stems of a text's content words."""
    return stems([t.norm for t in tokens(text) if is_content(t.norm)])
