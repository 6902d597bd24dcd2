"""Make a question set of two hops whose second fact shares no word with its question, to train and to measure on.

    python bench/chains.py chains --questions 5000      writes chains/corpus.jsonl and chains/queries.jsonl
    kgrag lab train next-fact chains --out model --epochs 1
    kgrag lab graph-quality chains --limit 200 --embedder minilm --embedder sbert:model

Made-up people lead to made-up houses (firms, clubs, schools, ...), and these to where they are; of each person and each
house other facts are told, too, which are as near to the first fact as the second one is. A house leads to one
question alone, so that nothing of a question is known from another one.
"""

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from synthetic import word


@dataclass(frozen=True)
class Kind:
    """A kind of chain: what is asked of a person {p}; the fact that leads to a house {h}; the one that leads to {t}."""

    houses: tuple[str, ...]
    questions: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]


KINDS = (
    Kind(
        ("Glassworks", "Shipping", "Brewery"),
        ("Where does the firm that employs {p} sit?", "In which city would a visitor find the workplace of {p}?"),
        ("{p} earns a living at {h}.", "{p} joined {h} as a clerk years ago."),
        ("{h} has its head office beside the market of {t}.", "The directors of {h} meet at headquarters, {t}."),
    ),
    Kind(
        ("Rovers", "Wanderers", "United"),
        ("On what ground are the home games of the side with {p} in it?", "Where does the team of {p} host rivals?"),
        ("{p} keeps goal for {h}.", "{p} wears the captain's armband of {h}."),
        ("{h} play in front of their own crowd at {t} stadium.", "Supporters of {h} fill the stands of {t} arena."),
    ),
    Kind(
        ("Quartet", "Orchestra", "Ensemble"),
        ("Which composer wrote what first made the group around {p} famous?", "Who composed the hit of {p}'s band?"),
        ("{p} plays the viola in {h}.", "{p} was hired by {h} for the second violin."),
        ("{h} owes its fame to a serenade by {t}.", "The breakthrough of {h} came with the nocturne of {t}."),
    ),
    Kind(
        ("Laboratory", "Observatory", "Institute"),
        ("Who paid for the place in which {p} does research?", "Whose money stands behind the science of {p}?"),
        ("{p} measures rare gases at {h}.", "{p} runs the night shift of {h}."),
        ("{h} was endowed by the merchant {t}.", "The bequest of {t}, a banker, founded {h}."),
    ),
    Kind(
        ("Monastery", "Priory", "Abbey"),
        ("Over which river does the retreat chosen by {p} look?", "What water runs by the cloister of {p}?"),
        ("{p} took vows at {h}.", "{p} has tended the bees of {h} since spring."),
        ("{h} stands on a cliff above the {t}.", "From the terrace of {h} monks fish in the {t}."),
    ),
)
OF_PEOPLE = (
    "{p} collects old maps of the coast.",
    "{p} has a sister who paints barns.",
    "{p} walked across the hills in a storm.",
    "{p} once won a prize for roses.",
)
OF_HOUSES = (
    "{h} gave a dinner for its oldest friends.",
    "A fire damaged the roof of {h} one winter.",
    "{h} printed a calendar with pictures of birds.",
    "A stamp was issued to honour {h}.",
    "{o} spoke at the jubilee of {h}.",
)


def name(number: int) -> str:
    """A made-up word of its own for each number."""
    return word(7_919 * number % 1_000_003 + 90_000).capitalize()


def chains(questions: int, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of corpus.jsonl and of queries.jsonl; ids and titles are numbers that tell nothing."""
    chance = random.Random(seed)
    numbers = list(range(6 * questions))
    chance.shuffle(numbers)
    corpus: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    for i in range(questions):
        kind = chance.choice(KINDS)
        person, other = f"{name(5 * i)} {name(5 * i + 1)}", f"{name(5 * i + 2)} {name(5 * i + 1)}"
        names = {"p": person, "o": other, "h": f"{name(5 * i + 3)} {chance.choice(kind.houses)}", "t": name(5 * i + 4)}
        told = [chance.choice(kind.first), chance.choice(kind.second)]
        told += [*chance.sample(OF_PEOPLE, 2), *chance.sample(OF_HOUSES, 2)]
        its = numbers[6 * i : 6 * i + 6]
        for number, text in zip(its, told, strict=True):
            corpus.append({"id": f"g{number}", "title": f"Gazette {number}", "text": text.format(**names)})
        text = chance.choice(kind.questions).format(**names)
        gold = [f"g{number}" for number in its[:2]]
        steps = [{"question": text, "gold": key} for key in gold]
        asked.append({"id": f"q{i}", "question": text, "answers": [names["t"]], "gold": gold, "steps": steps})
    chance.shuffle(corpus)
    return corpus, asked


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    return (f"{json.dumps(row)}\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where corpus.jsonl and queries.jsonl are written")
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    corpus, asked = chains(arguments.questions, arguments.seed)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for file, rows in (("corpus.jsonl", corpus), ("queries.jsonl", asked)):
        with (arguments.folder / file).open("w", encoding="utf-8") as out:
            out.writelines(_lines(rows))
    print(f"{arguments.folder}: {len(corpus)} passages, {len(asked)} questions")


if __name__ == "__main__":
    main()
