"""The same questions under harder conditions: misspelt, in lower case, over long documents, among other corpora."""

import hashlib
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

from kgrag.lab.datasets import Corpus, Dataset, GoldText, Question
from kgrag.text.languages import STOP_WORDS
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

_WORD = re.compile(r"[^\W\d_]{4,}")  # a letter fewer makes a shorter word another word


def typo(question: Question, seed: int = 0) -> Question:
    """Return the question with one letter dropped from one capitalised word, as a hasty user writes a name.

    The word is drawn among the capitalised ones of at least four letters that are no stop words; the first word of the
    question, whose capital means nothing, counts only if there is no other, and without any the longest word is taken.
    The letter is any but the first. The draw depends on the seed and on the question's id alone.
    """
    words = list(_WORD.finditer(question.text))
    names = [w for w in words if w.group()[0].isupper() and w.group().lower() not in STOP_WORDS]
    inner = [w for w in names if question.text[: w.start()].strip()]
    candidates = inner or names or sorted(words, key=lambda w: -len(w.group()))[:1]
    if not candidates:
        return question
    draw = random.Random(f"{seed}:{question.id}")
    word = draw.choice(candidates)
    at = draw.randrange(word.start() + 1, word.end())
    return replace(question, text=question.text[:at] + question.text[at + 1 :])


def lower(question: Question, seed: int = 0) -> Question:
    """Return the question in lower case."""
    return replace(question, text=question.text.lower())


PERTURBATIONS: dict[str, Callable[[Question, int], Question]] = {"typo": typo, "lower": lower}
"""Name -> what it does to a question; called with the question and a seed."""


def long_document(key: str, parts: Sequence[Document]) -> Document:
    """Join short documents into a long one: without a title of its own, with their titles as headings.

    So would a user have them who keeps many articles in one file. What the titles said of a whole document then says
    something of one of its sections only; the chunker puts each heading before the text under it, and cuts and packs
    sections as it does those of any other file. Metadata is left out, triples are kept.
    """
    return Document(
        key=key,
        sections=tuple(Section(part.text, part.title) for part in parts),
        source=parts[0].source,
        triples=tuple(triple for part in parts for triple in part.triples),
    )


def join(dataset: Dataset, size: int, max_file_mb: int = 64) -> Dataset:
    """Return the data set with every `size` documents of its corpus, in order, joined into a `long_document`.

    Gold is then part of a document, and is found where its text is (see `gold.text_ranks`): ranks count passages.
    `max_file_mb`: greatest size of a file of the corpus, which is read once for this.
    """
    wanted = {key for question in dataset.questions for key in question.gold}
    texts: dict[str, GoldText] = {}
    keys: set[str] = set()

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        problems: list[Problem] = []
        whole = _documents(dataset, max_file_mb, problems)
        for number, parts in enumerate(_groups(whole, size), 1):
            yield long_document(f"long {number}", parts)
        yield from problems

    for number, parts in enumerate(_groups(_documents(dataset, max_file_mb, []), size), 1):
        keys.add(f"long {number}")
        texts.update({p.key: GoldText(f"long {number}", p.text) for p in parts if p.key in wanted})
    variants = (*dataset.variants, f"join{size}")
    return replace(dataset, keys=frozenset(keys), corpus=Corpus(corpus), variants=variants, gold_texts=texts)


def sentences(dataset: Dataset) -> Dataset:
    """Return the data set with the sentences that support the answers as gold, in place of whole documents.

    Gold is then found where its text is (see `gold.text_ranks`): ranks count passages. Questions without such
    sentences are left out. Raises InputError when there are no others (KGP, section 3: supporting facts).
    """
    texts: dict[str, GoldText] = {}
    questions = []
    for question in dataset.questions:
        keys = []
        for support in question.supports:
            texts[support.key] = support
            keys.append(support.key)
        if keys:
            questions.append(replace(question, gold=tuple(dict.fromkeys(keys)), path=()))
    if not questions:
        raise InputError(
            f"{dataset.path} names no supporting sentences.",
            "HotpotQA, 2WikiMultiHopQA and IIRC do; in kgrag's own form they stand under supports.",
        )
    lost = len(dataset.questions) - len(questions)
    notes = (*dataset.notes, *([f"{lost:,} questions are left out: they name no supporting sentences."] * (lost > 0)))
    return replace(dataset, questions=tuple(questions), gold_texts=texts, notes=notes)


def merge(dataset: Dataset, others: Sequence[Dataset]) -> Dataset:
    """Return the data set with the corpora of others beside its own, among which its gold must be found as well.

    The keys of another corpus are its name, a colon, and the key there; two of the same name are numbered. A document
    of another corpus whose title and text were there before is left out: it would compete with the gold.
    Raises InputError when a key is in its own corpus already.
    """
    taken: set[str] = set()
    named: list[tuple[str, Dataset]] = []
    for other in others:
        names = (other.name if n == 1 else f"{other.name}{n}" for n in count(1))
        name = next(n for n in names if n not in taken)
        taken.add(name)
        named.append((name, other))
    foreign = frozenset(f"{name}:{key}" for name, other in named for key in other.keys)
    if clash := dataset.keys & foreign:
        raise InputError(f"{dataset.path} has a passage {min(clash)!r}, as has another corpus.", "Rename its folder.")

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        seen = set()
        for item in dataset.documents(max_file_mb):
            if isinstance(item, Document):
                seen.add(_words(item))
            yield item
        for name, other in named:
            for item in other.documents(max_file_mb):
                if isinstance(item, Problem):
                    yield item
                elif (words := _words(item)) not in seen:
                    seen.add(words)
                    yield replace(item, key=f"{name}:{item.key}")

    variants = (*dataset.variants, *(str(other.path) for other in others))
    return replace(dataset, keys=dataset.keys | foreign, corpus=Corpus(corpus), variants=variants)


def _words(document: Document) -> bytes:
    """Return a hash of a document's title and text."""
    text = f"{document.title}\0{document.text}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _documents(dataset: Dataset, max_file_mb: int, problems: list[Problem]) -> Iterator[Document]:
    for item in dataset.documents(max_file_mb):
        if isinstance(item, Document):
            yield item
        else:
            problems.append(item)


def _groups(documents: Iterable[Document], size: int) -> Iterator[tuple[Document, ...]]:
    stream = iter(documents)
    while group := tuple(islice(stream, size)):
        yield group
