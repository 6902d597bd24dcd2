"""How large lists and texts can grow within one row, so how long the lists that a statement makes may be.

Neo4j looks at the clock between rows, and while it reads the graph, but not inside an expression: what walks over
lists within lists, or doubles a text again and again, runs on past any time-out, or takes the heap. So every list
that is made is held to a length at run time, by an expression around what makes it that fails when it is longer. The
length follows from the statement: steps ** (1 / degree), where the degree is the power of the lists' length that the
work or a value can reach.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from kgrag.graph.gateway.lexer import KEYWORDS, Statement
from kgrag.graph.gateway.parts import (
    FEW,
    Loop,
    entities,
    is_index,
    items,
    literal_range,
    loop_at,
    makes_list,
    never_values,
    passes,
    replacements,
)
from kgrag.graph.gateway.rules import SCALARS, SMALL_LISTS, called, is_query
from kgrag.settings import GatewaySettings
from kgrag.values.errors import RefusedError


def check_parameters(parameters: Mapping[str, Any], limits: GatewaySettings) -> None:
    """Check that the server accepts the values, and that they are within the limits. Raises RefusedError."""
    for value in _values_in(dict(parameters)):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise RefusedError(
                f"{value:,} is beyond the whole numbers of Neo4j (64 bits).",
                "Give it as text, or with a decimal point.",
            )
        if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
            raise RefusedError("A parameter has half a character (a lone surrogate).", "Write whole characters.")
    items, characters = items_in(dict(parameters)), _characters_in(dict(parameters))
    if items > limits.parameter_items or characters > limits.parameter_characters:
        raise RefusedError(
            f"The parameters hold {items:,} values and {characters:,} characters.",
            f"At most {limits.parameter_items:,} and {limits.parameter_characters:,} are taken.",
        )


def _values_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value
        for item in value.values():
            yield from _values_in(item)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _values_in(item)
    else:
        yield value


def items_in(value: Any) -> int:
    """Return how many values lie in lists and maps, at any depth."""
    if isinstance(value, Mapping):
        return sum(1 + items_in(v) for v in value.values())
    if isinstance(value, list | tuple | set):
        return sum(1 + items_in(v) for v in value)
    return 0


def texts_in(value: Any) -> list[str]:
    """Return every text in a value, at any depth."""
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in texts_in(item)]
    if isinstance(value, list | tuple | set):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


def _characters_in(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(len(str(k)) + _characters_in(v) for k, v in value.items())
    if isinstance(value, list | tuple | set):
        return sum(_characters_in(v) for v in value)
    return len(value) if isinstance(value, str | bytes) else 0


_MOST_GROWTH = 1000
_ENDLESS = 10**9
_MOST_NESTED = 2
_LEAST = 20
_SHORT, _PROPERTY = 0.25, 0.5  # degrees: ten thousand ** 0.25 = 10, ** 0.5 = 100
_SMALL = 20  # values of a list that is short by itself
_TEXT = 1000
_HEADS = frozenset("WITH RETURN UNWIND".split())
_COSTLY = ("IN", "=", "<>", "+", "||")
_ARITHMETIC = ("*", "/", "%", "^", "-")
_WORDS = KEYWORDS | frozenset("ASC COUNT DESC END ENDS EXISTS FALSE NULL STARTS TRUE".split())


@dataclass(slots=True)
class Growth:
    """What a statement can grow to: found by reading its clauses from first to last."""

    statement: Statement
    parameters: Mapping[str, Any]
    degrees: dict[str, float] = field(default_factory=dict)
    growths: dict[str, int] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)  # names of nodes, relationships and numbers: they never grow
    loops: dict[int, Loop] = field(default_factory=dict)
    degree: float = 0.0
    weight: float = 0.0
    factor: int = 1
    made: set[str] = field(default_factory=set)  # names of values that are put together
    read: set[int] = field(default_factory=set)
    named: set[str] = field(default_factory=set)  # names that values are given

    def __post_init__(self) -> None:
        for index in sorted(self.statement.partner):
            if (loop := loop_at(self.statement, index)) is not None:
                self.loops[index] = loop
                self.weight += max(1.0, (loop.result[1] - loop.test[0]) / 40)
                self.named |= loop.names
        self.named |= {self.statement.name(i) for i in self.statement.after("AS")}
        self.plain = entities(self.statement)
        self._clauses(0, len(self.statement.tokens))
        for loop in self.loops.values():
            self._loop(loop)
            if loop.adds:
                self._check_reduce(loop)
        self.factor *= replacements(self.statement)

    def list_length(self, limits: GatewaySettings) -> int:
        """Return the longest length of the statement's lists.

        Raises RefusedError if hardly longer than nothing.
        """
        if self.factor > _MOST_GROWTH:
            raise RefusedError(
                "Texts or lists grow from step to step (each time a value is joined with itself).",
                "Name a value once in each WITH, and do not join it with itself.",
            )
        steps = limits.steps / (max(1.0, self.weight) * self.factor**2 * self._fixed())
        # Texts of the statement can be repeated in each item: ten million characters are enough.
        longest = max(self.longest_text(), _TEXT)
        if self._nested() > _MOST_NESTED:
            raise RefusedError(
                f"More than {_MOST_NESTED} lists are walked over within one another.", "Walk over them with UNWIND."
            )
        length = min(limits.list_items, 10_000_000 // longest, int(max(1.0, steps) ** (1 / max(1.0, self.degree))))
        if length < _LEAST:
            raise RefusedError(
                "Too many lists are walked over within one another, in one row.",
                "Walk over them with UNWIND instead, which can be interrupted.",
            )
        return length

    def _clauses(self, start: int, end: int) -> None:
        """Learn of each name that a clause from `start` up to `end` gives how large its value can be."""
        statement = self.statement
        for index in range(start, end):
            if index in self.read or not statement.begins_clause(index, _HEADS):
                continue
            self.read.add(index)
            for begin, stop in items(statement, index + 1):
                name = ""
                if stop - begin > 2 and statement.at(stop - 2) == "AS" and statement.is_name(stop - 1):
                    stop, name = stop - 2, statement.name(stop - 1)
                size, _ = self._expression(begin, stop)
                grown = self._joined(begin, stop)
                self.factor = max(self.factor, grown)
                if statement.at(index) == "UNWIND":
                    size = max(0.0, size - 1)
                if name:
                    self.degrees[name] = max(self.degrees.get(name, 0.0), size)
                    if self.is_made(begin, stop):
                        self.made.add(name)
                    self.growths[name] = max(self.growths.get(name, 1), grown)
                    if self._is_number(begin, stop):
                        self.plain.add(name)
                    else:
                        self.plain.discard(name)

    def _expression(self, start: int, end: int) -> tuple[float, float]:
        """Return the degree of a value, and that of the work to compute it."""
        statement, size, work, index = self.statement, 0.0, 0.0, start
        while index < end:
            close = statement.partner.get(index, -1)
            growth = (0.0, 0.0)
            if index < close:
                growth = self._bracket(index, close)
                index = close
            elif self._is_variable(index):
                one = statement.at(index + 1) == "[" and ".." not in self._between(index + 1)
                degree = max(0.0, self.degrees.get(statement.name(index), 0.0) - one)
                # The server keeps the values of a list that IN looks into in a table.
                growth = degree, 0.0 if statement.at(index - 1) == "IN" else degree
            elif statement.kind(index) == "parameter":
                growth = (self._parameter(index),) * 2
            size, work = max(size, growth[0]), max(work, growth[1])
            index += 1
        self.degree = max(self.degree, size, work)
        return size, work

    def _bracket(self, opened: int, close: int) -> tuple[float, float]:
        statement = self.statement
        function = called(statement, opened)
        if opened in self.loops:
            return self._loop(self.loops[opened])
        if is_query(statement, opened):
            self._clauses(opened + 1, close)
            returned = [i for i in statement.top(opened + 1, close) if statement.at(i) == "RETURN"]
            values = items(statement, returned[-1] + 1) if returned else []
            size = max((self._expression(*value)[0] for value in values), default=0.0)
            return (1.0 + size, 1.0 + size) if statement.at(opened - 1) == "COLLECT" else (0.0, 0.0)
        size, work = self._expression(opened + 1, close)
        if makes_list(statement, opened):
            if function == "range" and literal_range(statement, opened):
                return _SHORT, work
            size = 1.0 + (size if function in ("collect", "") else 0.0)
            return size, max(size, work)
        if statement.at(opened) == "[" and not is_index(statement, opened) and size >= 1:
            return size + 1, max(size, work)  # a list of lists: taking one out, or UNWIND, takes the 1 away again
        if function in SCALARS:
            return 0.0, 0.0 if function == "size" else work
        if function in ("head", "last"):
            return max(0.0, size - 1), work
        return size, work

    def _loop(self, loop: Loop) -> tuple[float, float]:
        statement = self.statement
        source, before = self._expression(*loop.source)
        for name in loop.names:
            self.degrees[name] = max(self.degrees.get(name, 0.0), source - 1, 0.0)
        walked = 1.0 if source >= 1 else self._short(*loop.source)
        _, test = self._expression(*loop.test)
        size, result = self._expression(*loop.result)
        if loop.adds and any(
            statement.name(i) == loop.adds
            and (statement.at(i - 1) in _COSTLY or statement.at(i + 1) in _COSTLY)
            and not self._is_factor(i)
            for i in range(*loop.result)
        ):
            result = max(result, 1.0)  # a text is copied whole each time that something is added to it
        work = max(before, walked + max(test, result))
        self.degree = max(self.degree, work)
        if statement.at(loop.opened) == "(" and not loop.adds:
            return 0.0, work  # all(), any(), none(), single()
        if loop.result[0] < loop.result[1]:
            return walked + size, work
        return max(source, walked), work

    def _short(self, start: int, end: int) -> float:
        """Return the degree of a list that no other rule covers.

        0 for small ones, else that of the longest property.
        """
        statement = self.statement
        if end - start >= 2 and statement.partner.get(end - 1) == start:
            few = sum(statement.at(i) == "," for i in statement.top(start + 1, end - 1)) < FEW
            return _SHORT if few else _PROPERTY
        for index in range(start, end):
            if called(statement, index) in SMALL_LISTS and statement.partner[index] == end - 1:
                return _SHORT
        return _PROPERTY

    def _parameter(self, index: int) -> float:
        value = self.parameters.get(self.statement.tokens[index].name)
        if isinstance(value, str):
            return 1.0 if len(value) > _TEXT else 0.0
        return 1.0 if items_in(value) > FEW else 0.0

    def _joined(self, start: int, end: int) -> int:
        """Return the largest factor by which a value can outgrow the statement's inputs.

        The sum of what it is joined of.
        """
        statement = self.statement
        inside = [loop for opened, loop in self.loops.items() if start <= opened < end]
        skipped = never_values(statement, start, end, inside)
        joins, most = False, 1
        uses: dict[str, dict[str, int]] = {}  # of each name: how often it is used whole, and each of its keys
        counts: dict[tuple[int, str], int] = {}
        for index in range(start, end):
            if index in skipped:
                continue
            sign, name = statement.at(index), statement.name(index)
            if sign in ("+", "||") or (sign in ("[", "{") and not is_index(statement, index)):
                joins = True
            if not self._is_variable(index) or self._is_factor(index):
                continue
            owner = next(
                (
                    loop
                    for loop in reversed(inside)
                    if name in loop.names and loop.opened < index < statement.partner[loop.opened]
                ),
                None,
            )
            if owner is not None:
                counts[owner.opened, name] = counts.get((owner.opened, name), 0) + 1
            elif name not in self.plain:
                key = statement.name(index + 2) if statement.at(index + 1) == "." else ""
                used = uses.setdefault(name, {"": 0})
                used[key] = used.get(key, 0) + 1
                most = max(most, self.growths.get(name, 1))
        parts = sum(
            self.growths.get(name, 1) * (used[""] + max((n for key, n in used.items() if key), default=0))
            for name, used in uses.items()
        )
        factor = max(1, parts) if joins else most
        for count in counts.values():
            factor *= count if joins else 1
        return min(factor, _ENDLESS)

    def _check_reduce(self, loop: Loop) -> None:
        statement = self.statement
        start, end = loop.result
        inside = [other for opened, other in self.loops.items() if start <= opened < end]
        skipped = never_values(statement, start, end, inside)
        adds = [i for i in range(start, end) if statement.name(i) == loop.adds and self._is_variable(i)]
        adds = [i for i in adds if not self._is_factor(i)]
        joined = [i for i in adds if i not in skipped and not passes(statement, i, start, end)]
        nested = any(other.opened < i < statement.partner[other.opened] for other in inside for i in adds)
        grows = any(called(statement, i) == "replace" for i in range(start, end))
        if len(joined) > 1 or nested or grows:
            raise RefusedError(
                "reduce() uses what it has gathered more than once, and so can grow without bounds.",
                f"Name {loop.adds.lower()} once after the |, or use sum(), collect() or UNWIND.",
            )

    def _is_variable(self, index: int) -> bool:
        """Return whether the token there names a value: not a keyword, property, label, function or new name."""
        statement = self.statement
        if not statement.is_name(index) or statement.names_something(index):
            return False
        if statement.at(index) in _WORDS and statement.name(index) not in self.named:
            return False
        end = index
        while statement.at(end + 1) == "." and statement.is_name(end + 2):
            end += 2
        return statement.at(end + 1) != "(" and statement.at(index - 1) != "AS"

    def longest_text(self) -> int:
        """Return the characters of the longest text in the statement and its parameters."""
        return max(map(len, self.texts()), default=0)

    def texts(self) -> list[str]:
        """Return every text in the statement and its parameters."""
        literals = [token.name for token in self.statement.tokens if token.kind == "string"]
        return [*literals, *texts_in(dict(self.parameters))]

    def is_made(self, start: int, end: int) -> bool:
        """Return whether the statement composes the value of the tokens, so that it may be long."""
        return any(self._makes(index) for index in range(start, end))

    def _makes(self, index: int) -> bool:
        statement = self.statement
        return (
            statement.at(index) in ("+", "||")
            or index in self.loops
            or called(statement, index) in ("replace", "collect", "normalize")
            or (self._is_variable(index) and statement.name(index) in self.made)
        )

    def _is_factor(self, index: int) -> bool:
        """Return whether the value there is multiplied, divided or taken away, so that it must be a number."""
        statement = self.statement
        end = index + 1
        while statement.at(end) in (".", "["):
            end = statement.partner[end] + 1 if statement.at(end) == "[" else end + 2
        return statement.at(index - 1) in _ARITHMETIC or statement.at(end) in _ARITHMETIC

    def _between(self, opened: int) -> list[str]:
        return [self.statement.at(i) for i in range(opened, self.statement.partner[opened])]

    def _is_number(self, start: int, end: int) -> bool:
        statement = self.statement
        if end - start == 1:
            return statement.kind(start) == "number" or statement.name(start) in self.plain
        bracket = statement.partner.get(end - 1, -1)
        function = called(statement, bracket) if bracket > start else ""
        parts = function.count(".") * 2 + 1
        return function in SCALARS and bracket - parts == start

    def _nested(self) -> int:
        """Return how many unbounded lists, those of properties, are walked over within one another."""
        long = [loop for loop in self.loops.values() if not self._is_short(loop)]
        nests = [
            sum(other.test[0] <= loop.opened < max(other.test[1], other.result[1]) for other in long) for loop in long
        ]
        return max(nests, default=-1) + 1

    def _fixed(self) -> int:
        """Return how often the body of loops over literal or short lists runs."""
        times = {opened: self._literal_size(loop) for opened, loop in self.loops.items()}
        return max(
            (
                prod(
                    times[opened]
                    for opened, outer in self.loops.items()
                    if outer is loop or outer.test[0] <= loop.opened < max(outer.test[1], outer.result[1])
                )
                for loop in self.loops.values()
            ),
            default=1,
        )

    def _literal_size(self, loop: Loop) -> int:
        """Return the number of items of a literal list of a loop; else 1."""
        statement = self.statement
        start, end = loop.source
        if statement.partner.get(end - 1) == start:
            return sum(statement.at(i) == "," for i in statement.top(start + 1, end - 1)) + 1
        for index in range(start, end):
            if called(statement, index) and statement.partner[index] == end - 1:
                if called(statement, index) in SMALL_LISTS:
                    return _SMALL
                return literal_range(statement, index) or 1
        return 1

    def _is_short(self, loop: Loop) -> bool:
        size, _ = self._expression(*loop.source)
        return size >= 1 or self._short(*loop.source) == _SHORT


def check_walked(growth: Growth, length: int) -> None:
    """Check that no parameter in a loop is longer than the lists that it may walk over. Raises RefusedError."""
    statement = growth.statement
    for loop in growth.loops.values():
        for index in range(loop.opened, statement.partner[loop.opened]):
            if statement.kind(index) != "parameter":
                continue
            name = statement.tokens[index].name
            value = growth.parameters.get(name)
            if items_in(value) > length or (isinstance(value, str) and len(value) > _TEXT):
                raise RefusedError(f"${name} is too long to be walked over here.", f"Give at most {length:,} values.")
