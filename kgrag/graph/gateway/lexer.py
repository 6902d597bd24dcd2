"""Tokens of Cypher: a statement is read once, and what is sent is what was read.

Neo4j resolves \\uXXXX before it parses, so that a quote or a keyword can hide behind one. They are resolved here, and
comments and odd spaces become spaces, so that nothing is left for the server to read in another way.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

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
_ESCAPED = re.compile(r"\\\\|\\u([0-9A-Fa-f]{4})")
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\r\n]*|/\*.*?\*/)
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
    """A statement as it will be sent: its text, its tokens, and for each bracket the one that closes or opens it."""

    def __init__(self, text: str) -> None:
        """Read a statement. Raises RefusedError where another reader could see something else."""
        self.text = _spaced(_resolved(text))
        self.tokens = _tokens(self.text)
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

    def after(self, name: str) -> list[int]:
        """Return the tokens that follow a token of that name."""
        return [index for index in range(1, len(self.tokens)) if self.at(index - 1) == name]

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


def _resolved(text: str) -> str:
    def resolve(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        char = chr(int(match[1], 16))
        if char == "\\":
            raise RefusedError("An escaped backslash hides what follows it.", "Write \\\\ instead of \\u005c.")
        return char

    plain = _ESCAPED.sub(resolve, text)
    if "\\u" in plain:
        raise RefusedError("A backslash before u can be read in two ways.", "Give such a text as a parameter.")
    try:
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise RefusedError("Half a character (a lone surrogate).", "Write whole characters.") from None


def _spaced(text: str) -> str:
    """Return the text with comments and odd spaces as plain spaces, lines unchanged."""
    parts, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise RefusedError(
                f"Cannot read the statement from {text[position : position + 20]!r} on.",
                "Close every quote and comment, and use no other signs than Cypher's own outside quotes.",
            )
        token = match[0]
        parts.append(re.sub(r"[^\n]", " ", token) if match.lastgroup == "space" else token)
        position = match.end()
    return "".join(parts)


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        kind: Kind
        match match.lastgroup:
            case "space":
                continue
            case "word":
                kind, name = "word", token.upper() if token.isascii() else token
                if not token.isascii() and _ascii(token):
                    raise RefusedError(
                        f"{token!r} has letters that look like others.", "Use plain letters, or backticks around it."
                    )
            case "quoted":
                kind, name = "quoted", token[1:-1].replace("``", "`")
            case "string":
                kind, name = "string", token[1:-1]
            case "parameter":
                kind, name = "parameter", token[1:].strip("`")
            case "number":
                kind, name = "number", token
            case _:
                kind, name = "symbol", token
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
