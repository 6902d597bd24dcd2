"""Kinds of questions: the asker, the form, the premise and the subject.

Source: Millions of GEAR-s, section 5.1 and table 1, after DataMorgana (Filice et al., 2025). The eight formulations
have 10 % each there, which sums to 80 %: weights are normalised. What a kind means is said here in own words.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of question. `weight`: how often it is drawn beside the others of its group; `passages` it needs."""

    name: str
    weight: float
    means: str
    passages: int = 1


USERS: Sequence[Category] = (
    Category("novice", 50, "somebody new to the subject, who knows none of its technical terms"),
    Category("expert", 50, "somebody who knows the subject well and uses its terms"),
)
FORMULATIONS: Sequence[Category] = (
    Category("concise", 10, "a direct, natural question of a few words"),
    Category("verbose", 10, "a natural question of more than nine words"),
    Category("list", 10, "it asks for several items or examples, as in 'List the ...' or 'What are some ...'"),
    Category("definition", 10, "it asks what a term means, as in 'What is ...' or 'Define ...'"),
    Category(
        "opinion", 10, "it asks for a view that the texts support, as in 'Should one ...' or 'What speaks for ...'"
    ),
    Category("hypothetical", 10, "it imagines a case, as in 'Suppose that ...' or 'What if ...'"),
    Category("how-to", 10, "it asks for a way to do something, as in 'How do I ...'"),
    Category("yes-no", 10, "it is answered with yes or no, as in 'Is ...', 'Did ...' or 'Can ...'"),
)
PREMISES: Sequence[Category] = (
    Category("none", 70, "the question stands alone and says nothing about who asks"),
    Category("premise", 30, "a short clause about the asker's situation or need comes before the question"),
)
ANSWER_TYPES: Sequence[Category] = (
    Category("factoid", 15, "one name, date, number or the like"),
    Category("multi-aspect", 25, "two aspects of the same thing, one from each text", 2),
    Category(
        "comparison", 30, "two related things, one from each text, compared in one respect that both texts state", 2
    ),
    Category(
        "path-following",
        15,
        "one clear chain of facts: the first text leads to the name that ties the texts, the second from there to the "
        "answer; the question describes that name and never says it",
        2,
    ),
    Category(
        "path-finding",
        15,
        "what ties two things that could be tied in many ways: the question names what begins and what ends the chain, "
        "and asks for the link between them that the texts state",
        2,
    ),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The properties of a question to be made."""

    user: Category
    formulation: Category
    premise: Category
    answer_type: Category


def draw_kind(lot: random.Random) -> Kind:
    """Draw a kind by the weights of each group, one independent of the other."""
    user, formulation, premise, answer_type = (
        lot.choices(group, [category.weight for category in group])[0]
        for group in (USERS, FORMULATIONS, PREMISES, ANSWER_TYPES)
    )
    return Kind(user, formulation, premise, answer_type)
