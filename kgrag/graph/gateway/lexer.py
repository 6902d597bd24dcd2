"""Tokens of Cypher, as Neo4j reads them.

Statements in which another reader could see something else are refused: Neo4j resolves \\uXXXX before it parses, so a
quote or a keyword can hide behind one.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, cast

from kgrag.values.errors import RefusedError

Kind = Literal["word", "quoted", "string", "number", "parameter", "symbol"]
_OPEN = {")": "(", "]": "[", "}": "{"}
_CLAUSES = frozenset("MATCH WHERE WITH RETURN UNWIND CALL UNION YIELD ORDER SKIP LIMIT OFFSET OPTIONAL".split())
_BEFORE_BRACKET = frozenset(
    """
    AND ASC BOTH BY CALL CASE CONTAINS DESC DISTINCT ELSE FROM GROUP GROUPS IN LEADING LIMIT MATCH NOT OFFSET ON OR PATH
    PATHS RETURN SHORTEST SKIP THEN TRAILING UNWIND WALK WHEN WHERE WITH XOR
    """.split()
)
"""Words that a bracket may follow without being called."""
_DEEPEST = 40
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\r\n\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]*|/\*.*?\*/)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>0[xX][0-9A-Fa-f_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?[fFdD]?(?!\w))
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<parameter>\$(?:\w+|`(?:[^`]|``)+`))
    |(?P<symbol>\.\.|=~|<>|<=|>=|::|\|\||/(?![*/])|[-+*%^=<>.,;:|&!(){}\[\]$])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a statement: its kind, its text without quotes, and its place in the statement."""

    kind: Kind
    name: str
    start: int
    end: int


class Statement:
    """A statement as codes, one for each token.

    A word is in capitals, in backticks too if it was: NAME, `NAME. Properties, labels and keys of maps begin with a dot:
    .NAME. A text is '', a parameter is $. Numbers and signs stay as they are.
    """

    def __init__(self, text: str) -> None:
        """Read a statement. Raises RefusedError where another reader could see something else."""
        if re.search(r"\\u", text) or any("\ud800" <= char <= "\udfff" for char in text):
            raise RefusedError("A backslash before u can be read in two ways.", "Write the character itself.")
        self.text = text
        self.tokens = _tokens(text)
        self.partner, self.parent = _partners(self.tokens)
        self.codes = [self._code(index) for index in range(len(self.tokens))]

    def at(self, index: int) -> str:
        """Return the code of a token; the empty string beyond either end."""
        return self.codes[index] if 0 <= index < len(self.codes) else ""

    def name(self, index: int) -> str:
        """Return the name that a token can refer to: the same with and without backticks; empty for all else."""
        named = 0 <= index < len(self.tokens) and self.tokens[index].kind in ("word", "quoted")
        return self.codes[index].removeprefix("`") if named and self.codes[index][0] != "." else ""

    def text_of(self, start: int, end: int) -> str:
        """Return the text from token `start` up to token `end`."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def function(self, bracket: int) -> str:
        """Return the dotted name before a round bracket, in small letters; empty for a bracket that calls nothing."""
        index = bracket - 1
        named = index >= 0 and self.tokens[index].kind in ("word", "quoted")
        if self.at(bracket) != "(" or not named or self.codes[index] in _BEFORE_BRACKET:
            return ""
        while self.at(index - 1) == "." and index > 1:
            index -= 2
        return "".join(self.codes[index:bracket]).replace("..", ".").lower()

    def begins_clause(self, index: int) -> bool:
        """Return whether a token begins a clause; guests have no variables of such names."""
        before = self.at(index - 1)
        operator = before in ("STARTS", "ENDS") and self.at(index) == "WITH"
        return self.at(index) in _CLAUSES and before not in ("|", "&", "!") and not operator

    def items(self, start: int) -> list[tuple[int, int]]:
        """Return the ranges between the commas of the clause or bracket whose first token is `start`."""
        ranges, begin, index = [], start, start
        while index < len(self.tokens) and self.partner.get(index, index) >= index:
            if self.begins_clause(index) or self.codes[index] == ";":
                break
            if self.codes[index] == ",":
                ranges.append((begin, index))
                begin = index + 1
            index = self.partner.get(index, index) + 1
        return [*ranges, (begin, index)] if begin < index else ranges

    def _code(self, index: int) -> str:
        token = self.tokens[index]
        if token.kind not in ("word", "quoted"):
            return {"string": "''", "parameter": "$"}.get(token.kind, token.name)
        before, after, key = self._sign(index - 1), self._sign(index + 1), self._sign(index - 3) in ("{", ",")
        in_map = self._sign(self.parent[index]) == "{"
        starts_entry = in_map and before in ("{", ",") and after == ":"
        member = before == "." or starts_entry or (before == ":" and not (in_map and key))
        return ("." if member else "`" if token.kind == "quoted" else "") + re.sub(r"\s", "_", token.name.upper())

    def _sign(self, index: int) -> str:
        known = 0 <= index < len(self.tokens) and self.tokens[index].kind == "symbol"
        return self.tokens[index].name if known else ""


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise RefusedError(
                f"Cannot read the statement from {text[position : position + 20]!r} on.",
                "Close every quote and comment, and use no other signs than Cypher's own outside quotes.",
            )
        position = match.end()
        if match.lastgroup == "space":
            continue
        token: str = match[0]
        kind, name = cast(Kind, match.lastgroup), token
        if kind == "word":
            if not token.isascii() and _ascii(token):
                raise RefusedError(
                    f"{token!r} has letters that look like others.", "Use plain letters, or backticks around it."
                )
        elif kind in ("quoted", "string"):
            name = token[1:-1].replace("``", "`") if kind == "quoted" else token[1:-1]
        elif kind == "parameter":
            name = token[1:].strip("`")
        if tokens and tokens[-1].end == match.start() and {kind, tokens[-1].kind} <= {"word", "number", "parameter"}:
            raise RefusedError(f"{tokens[-1].name}{token} runs together.", "Put a space between names.")
        tokens.append(Token(kind, name, match.start(), match.end()))
    return tokens


def _ascii(word: str) -> bool:
    folded = unicodedata.normalize("NFKC", word)
    return any(len(form) == len(word) and form.isascii() for form in (folded, word.lower(), word.upper()))


def _partners(tokens: list[Token]) -> tuple[dict[int, int], list[int]]:
    """Return the partner of each bracket; of each token the enclosing bracket, -1 if none."""
    partner: dict[int, int] = {}
    parent: list[int] = []
    opened: list[int] = []
    for index, token in enumerate(tokens):
        parent.append(opened[-1] if opened else -1)
        if token.kind != "symbol":
            continue
        if token.name in _OPEN.values():
            opened.append(index)
            if len(opened) > _DEEPEST:
                raise RefusedError(f"Brackets lie more than {_DEEPEST} deep.", "Take the statement apart with WITH.")
        elif token.name in _OPEN:
            if not opened or tokens[opened[-1]].name != _OPEN[token.name]:
                raise RefusedError(f"A {token.name} closes nothing.", "Check the brackets.")
            partner[index] = opened.pop()
            partner[partner[index]] = index
    if opened:
        raise RefusedError(f"A {tokens[opened[-1]].name} is never closed.", "Check the brackets.")
    return partner, parent
