"""Make a question set harder with many passages that resemble its own: the same names in other roles, near-copies.

    python bench/confusable.py bench/2wiki -n 100000 -o big      writes big/corpus.jsonl and big/queries.jsonl
    kgrag ingest big/corpus.jsonl --bulk -c big
    kgrag lab eval big -c big -r pathrank -r hybrid -r bm25 --baseline bm25 --out runs/

Every passage of the set gets one near-copy: same title and words, except for one changed name or number. All other
passages say of somebody new what a real passage says of its subject. Their titles combine parts of two real titles, and
years move. Each name in the text becomes, with probability one half, a real name (drawn by its frequency), else a
made-up one. So question names occur in more and more passages, and the words of each gold passage in many.
"""

import argparse
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: (?:of |the |de |von |van )?[A-Z][\w'’-]+)+")
_NUMBER = re.compile(r"\b\d{2,4}\b")
_REAL = 0.5


class Names:
    """The names of the set by their number of words: drawn by frequency, or combined from two."""

    def __init__(self, passages: Sequence[Mapping[str, str]], chance: random.Random) -> None:
        counts = Counter(name for p in passages for name in _NAME.findall(p["text"]))
        counts.update(_plain(p["title"]) for p in passages)
        self._chance = chance
        self._by_length: dict[int, tuple[list[str], list[int]]] = {}
        for name, count in sorted(counts.items()):
            known, weights = self._by_length.setdefault(len(name.split()), ([], []))
            known.append(name)
            weights.append(count + (weights[-1] if weights else 0))

    def real(self, like: str) -> str:
        """Return a random name of the set with as many words."""
        known, weights = self._by_length.get(len(like.split()), ([like], [1]))
        return self._chance.choices(known, cum_weights=weights)[0]

    def made(self, like: str) -> str:
        """Return a new name: the first half of one such name and the second half of another."""
        first, second = self.real(like).split(), self.real(like).split()
        half = max(1, len(first) // 2)
        return " ".join([*first[:half], *second[half:]]) if len(first) > 1 else first[0] + second[0].lower()


def confusable(passages: Sequence[Mapping[str, str]], number: int, seed: int) -> Iterator[dict[str, str]]:
    """Yield `number` more passages {id, title, text}: first the near-copies, then passages about somebody new."""
    chance = random.Random(seed)
    names = Names(passages, chance)
    for i in range(number):
        near = i < len(passages)
        passage = passages[i] if near else chance.choice(passages)
        title, text = _copy(passage, names, chance) if near else _another(passage, names, chance)
        yield {"id": f"made-{i}", "title": title, "text": text}


def _copy(passage: Mapping[str, str], names: Names, chance: random.Random) -> tuple[str, str]:
    text = passage["text"]
    title = _plain(passage["title"])
    facts = [m for m in (*_NAME.finditer(text), *_NUMBER.finditer(text)) if m[0] not in title]
    if facts:
        fact = chance.choice(facts)
        other = _moved(fact[0], chance) if fact[0].isdigit() else names.real(fact[0])
        text = text[: fact.start()] + other + text[fact.end() :]
    return passage["title"], text


def _another(passage: Mapping[str, str], names: Names, chance: random.Random) -> tuple[str, str]:
    old = _plain(passage["title"])
    title = names.made(old)
    told = {old: title}

    def renamed(match: re.Match[str]) -> str:
        name = match[0]
        if name not in told:
            told[name] = names.real(name) if chance.random() < _REAL else names.made(name)
        return told[name]

    text = _NAME.sub(renamed, passage["text"].replace(old, title) if " " not in old else passage["text"])
    return title, _NUMBER.sub(lambda m: _moved(m[0], chance), text)


def _moved(number: str, chance: random.Random) -> str:
    return str(max(10, int(number) + chance.choice((-1, 1)) * chance.randint(1, 30)))


def _plain(title: str) -> str:
    return re.sub(r" \([^)]*\)$", "", title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="a folder with corpus.jsonl and queries.jsonl")
    parser.add_argument("-n", "--number", type=int, default=100_000, help="passages to make")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    lines = (options.set / "corpus.jsonl").read_text("utf-8").splitlines()
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "corpus.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)
        for passage in confusable([json.loads(line) for line in lines], options.number, options.seed):
            out.write(json.dumps(passage, ensure_ascii=False) + "\n")
    shutil.copy(options.set / "queries.jsonl", options.out)
    print(f"{len(lines):,} passages of {options.set.name}, {options.number:,} made: {options.out}")


if __name__ == "__main__":
    main()
