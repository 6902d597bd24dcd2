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
OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = {close: opened for opened, close in OPEN.items()}
CLAUSES = frozenset("MATCH WHERE WITH RETURN UNWIND CALL UNION YIELD ORDER SKIP LIMIT OFFSET OPTIONAL USING".split())
"""Words that begin a clause or a part of one."""
SEPARATE = frozenset("WITH RETURN UNWIND CALL UNION".split())
"""Clauses that end a part of a query: what is matched after one is planned by itself."""
KEYWORDS = CLAUSES | frozenset("AND OR XOR NOT IN IS CONTAINS CASE WHEN THEN ELSE AS BY DISTINCT".split())
"""Words that the rules take for what they are in Cypher, so that no variable may bear their names."""
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
    """A piece of a statement. `name`: what it means, so without quotes; words in capitals. `start`, `end`: where."""

    kind: Kind
    name: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.name


class Statement:
    """A statement: its text, its tokens, and the matching bracket of each bracket."""

    def __init__(self, text: str) -> None:
        """Read a statement. Raises RefusedError where another reader could see something else."""
        if re.search(r"\\u", text) or any("\ud800" <= char <= "\udfff" for char in text):
            raise RefusedError("A backslash before u can be read in two ways.", "Write the character itself.")
        self.text = text
        self.tokens = _tokens(text)
        self.partner, self.parent = _partners(self.tokens)

    def at(self, index: int) -> str:
        """Return the name of a token; of a quoted one in backticks; the empty string beyond either end."""
        if not 0 <= index < len(self.tokens):
            return ""
        token = self.tokens[index]
        return {"quoted": f"`{token.name}`", "string": "''", "parameter": "$"}.get(token.kind, token.name)

    def kind(self, index: int) -> str:
        """Return the kind of a token; the empty string beyond either end."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else ""

    def name(self, index: int) -> str:
        """Return the name of a word; names that differ in capitals or backticks alone count as one."""
        return self.tokens[index].name.upper() if self.is_name(index) else ""

    def is_name(self, index: int) -> bool:
        """Return whether the token there can be (a part of) a name."""
        return self.kind(index) in ("word", "quoted")

    def text_of(self, start: int, end: int) -> str:
        """Return the text from token `start` up to token `end`."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def names_something(self, index: int) -> bool:
        """Return whether the word is a property, label, type or the key of a map, and so no keyword or variable."""
        if self.at(index - 1) == ".":
            return True
        in_map = self.at(self.parent[index]) == "{" if self.parent[index] >= 0 else False
        if self.at(index - 1) == ":":
            return not (in_map and self.at(index - 3) in ("{", ","))
        return in_map and self.at(index + 1) == ":" and self.at(index - 1) in ("{", ",")

    def begins_clause(self, index: int, words: frozenset[str]) -> bool:
        """Return whether the word begins a clause, one of `words`; `check_words` forbids variables of such names."""
        if self.kind(index) != "word" or self.at(index) not in words or self.names_something(index):
            return False
        if self.at(index - 1) in ("|", "&", "!"):
            return False  # a label or type
        return self.at(index) != "WITH" or not self.is_operator(index - 1)

    def is_operator(self, index: int) -> bool:
        """Return whether the word there is STARTS or ENDS after a value, and so no variable of that name."""
        if self.at(index) not in ("STARTS", "ENDS") or self.names_something(index):
            return False
        before = self.at(index - 1)
        return before in (")", "]", "}") or (self.kind(index - 1) not in ("symbol", "") and before not in KEYWORDS)

    def top(self, start: int, end: int) -> list[int]:
        """Return the tokens from `start` up to `end` outside brackets, with the brackets themselves."""
        indices, index = [], start
        while index < end:
            indices.append(index)
            close = self.partner.get(index, -1)
            if index < close < end:
                indices.append(close)
                index = close
            index += 1
        return indices


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
            name = token.upper() if token.isascii() else token
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
        if token.name in OPEN:
            opened.append(index)
            if len(opened) > _DEEPEST:
                raise RefusedError(f"Brackets lie more than {_DEEPEST} deep.", "Take the statement apart with WITH.")
        elif token.name in _CLOSE:
            if not opened or tokens[opened[-1]].name != _CLOSE[token.name]:
                raise RefusedError(f"A {token.name} closes nothing.", "Check the brackets.")
            partner[index] = opened.pop()
            partner[partner[index]] = index
    if opened:
        raise RefusedError(f"A {tokens[opened[-1]].name} is never closed.", "Check the brackets.")
    return partner, parent
