"""Tokens of Cypher, as Neo4j reads them.

Statements in which another reader could see something else are refused: Neo4j resolves \\uXXXX before it parses, so a
quote or a keyword can hide behind one.
"""

import re
from dataclasses import dataclass

from kgrag.values.errors import RefusedError

CLAUSES = frozenset("MATCH WHERE WITH RETURN UNWIND CALL UNION YIELD ORDER SKIP LIMIT OFFSET OPTIONAL".split())
_NEVER_CALLED = frozenset(
    """
    AND ASC BOTH BY CALL CASE CONTAINS DESC DISTINCT ELSE FROM GROUP GROUPS IN LEADING LIMIT MATCH NOT OFFSET ON OR PATH
    PATHS RETURN SHORTEST SKIP THEN TRAILING UNWIND WALK WHEN WHERE WITH XOR
    """.split()
)
_OPEN = {")": "(", "]": "[", "}": "{"}
_DEEPEST = 40
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\r\n\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]*|/\*.*?\*/)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*(?![\w$]))
    |(?P<number>(?:0[xX][0-9A-Fa-f_]+|0[oO][0-7_]+
        |(?:[0-9][0-9_]*(?:\.[0-9][0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?[fFdD]?)(?![\w$]|\.(?!\.)))
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<parameter>\$(?:[A-Za-z0-9_]+|`(?:[^`]|``)+`)(?![\w$]))
    |(?P<symbol>\.\.|=~|<>|<=|>=|::|\|\||/(?![*/])|[-+*%^=<>.,;:|&!(){}\[\]$])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a statement: its kind (a group of the pattern), its text without quotes, and its place."""

    kind: str
    name: str
    start: int
    end: int


class Statement:
    """A statement as codes, one for each token.

    A word is in capitals, after a backtick if it was in backticks: NAME, `NAME. Properties, labels and keys of maps
    begin with a dot: .NAME. A text is '', a parameter is $. Numbers and signs stay as they are.
    """

    def __init__(self, text: str) -> None:
        """Read a statement. Raises RefusedError where another reader could see something else."""
        if re.search(r"\\u", text) or any("\ud800" <= char <= "\udfff" for char in text):
            raise RefusedError("A backslash before u can be read in two ways.", "Write the character itself.")
        self.text = text
        self.tokens = _tokens(text)
        self.partner: dict[int, int] = {}
        self.parent: list[int] = []
        self._pair_brackets()
        self.codes = [self._code(index) for index in range(len(self.tokens))]

    def at(self, index: int) -> str:
        """Return the code of a token; the empty string beyond either end."""
        return self.codes[index] if 0 <= index < len(self.codes) else ""

    def name(self, index: int) -> str:
        """Return the name that a token can refer to: the same with and without backticks; empty for all else."""
        named = self.at(index)[:1] not in ("", ".") and self.tokens[index].kind in ("word", "quoted")
        return self.codes[index].removeprefix("`") if named else ""

    def text_of(self, start: int, end: int) -> str:
        """Return the text from token `start` up to token `end`."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def function(self, bracket: int) -> str:
        """Return what a round bracket calls, in small letters: "size", "call db.labels"; empty if it calls nothing."""
        begin = bracket - 1
        named = self.at(begin) and self.tokens[begin].kind in ("word", "quoted")
        if self.at(bracket) != "(" or not named or self.at(begin) in _NEVER_CALLED:
            return ""
        while self.at(begin - 1) == ".":
            begin -= 2
        name = "".join(self.codes[max(begin, 0) : bracket]).replace("..", ".").lower()
        return f"call {name}" if self.at(begin - 1) == "CALL" else name

    def begins_clause(self, index: int) -> bool:
        """Return whether a token begins a clause; guests have no variables of such names."""
        before = self.at(index - 1)
        operator = before in ("STARTS", "ENDS") and self.at(index) == "WITH"
        return self.at(index) in CLAUSES and before not in ("|", "&", "!") and not operator

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
        before, after = self._sign(index - 1), self._sign(index + 1)
        in_map, commas = self._sign(self.parent[index]) == "{", ("{", ",")
        value = in_map and self._sign(index - 3) in commas
        member = before == "." or (before == ":" and not value) or (in_map and before in commas and after == ":")
        return ("." if member else "`" * (token.kind == "quoted")) + re.sub(r"\s", "_", token.name.upper())

    def _sign(self, index: int) -> str:
        inside = 0 <= index < len(self.tokens)
        return self.tokens[index].name if inside and self.tokens[index].kind == "symbol" else ""

    def _pair_brackets(self) -> None:
        opened: list[int] = []
        for index in range(len(self.tokens)):
            sign = self._sign(index)
            self.parent.append(opened[-1] if opened else -1)
            if sign in _OPEN.values():
                opened.append(index)
            elif sign in _OPEN:
                if not opened or self._sign(opened[-1]) != _OPEN[sign]:
                    raise RefusedError(f"A {sign} closes nothing.", "Check the brackets.")
                self.partner |= {index: opened[-1], opened.pop(): index}
            if len(opened) > _DEEPEST:
                raise RefusedError(f"Brackets lie more than {_DEEPEST} deep.", "Take the statement apart with WITH.")
        if opened:
            raise RefusedError(f"A {self._sign(opened[-1])} is never closed.", "Check the brackets.")


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise RefusedError(
                f"Cannot read the statement from {text[position : position + 20]!r} on.",
                "Close every quote and comment, and put names with other letters than A to Z in backticks.",
            )
        position, kind, name = match.end(), str(match.lastgroup), match[0]
        if kind in ("quoted", "string"):
            name = name[1:-1].replace("``", "`")
        if kind != "space":
            tokens.append(Token(kind, name.lstrip("$").strip("`") if kind == "parameter" else name, *match.span()))
    return tokens
