"""Expressions that compose retrievers: `rrf(hybrid, ppr)`, `naive-ge(bm25, diverse=false)`, `bm25 % 50 >> colbert`.

An expression is a name, optionally followed in parentheses by other expressions to work on and options `key=value`.
Names may contain hyphens. Values are numbers, words, 'other text' in quotes, true, false, none or (tuples, of, these).
See `retrieval.base.Retriever` for the operators.
"""

import ast
import keyword
import re
from dataclasses import dataclass
from typing import Any

from kgrag.values.errors import ConfigurationError

_HYPHEN = re.compile(r"""('[^']*'|"[^"]*")|(?<=[A-Za-z0-9])-(?=[A-Za-z])""")  # outside of quotes
_KEYWORD = re.compile(rf"^({'|'.join(keyword.kwlist)})(?=\(|$)")  # a Python keyword as a system's name: global
_CONSTANTS = {"true": True, "false": False, "none": None}
_HELP = "Write a name, or NAME(NAME, ..., OPTION=VALUE, ...), as in: rrf(hybrid, ppr) or naive-ge(bm25, diverse=false)."


@dataclass(frozen=True, slots=True)
class Expression:
    """A retriever's name, the retrievers to work on, and its options."""

    name: str
    parts: tuple["Expression", ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        inner = [str(p) for p in self.parts] + [f"{key}={_literal(value)}" for key, value in self.options]
        return f"{self.name}({', '.join(inner)})" if inner else self.name


def parse(text: str) -> Expression:
    """Parse an expression. Raises ConfigurationError that describes the fault if it is invalid."""
    try:
        named = _KEYWORD.sub(r"\1_", text.strip())
        tree = ast.parse(_HYPHEN.sub(lambda m: m[1] or "_", named), mode="eval").body
        return _expression(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = "" if isinstance(error, SyntaxError) else f" ({error})"
        raise ConfigurationError(f"{text!r} does not say how to search{reason}.", _HELP) from error


def joined(name: str, one: Expression, other: Expression) -> Expression:
    """Return `a | b | c` as rrf(a, b, c), without nesting operands of the same operator."""
    parts = one.parts if one.name == name and one.parts and not one.options else (one,)
    return Expression(name, (*parts, other))


_JOINING: dict[type[ast.operator], str] = {ast.BitOr: "rrf", ast.BitAnd: "common", ast.BitXor: "concat"}


def _expression(node: ast.expr) -> Expression:
    if isinstance(node, ast.BinOp):
        return _operation(node)
    if isinstance(node, ast.Name):
        return Expression(_name(node.id))
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("a name is wanted")
    options = []
    for option in node.keywords:
        if option.arg is None:
            raise ValueError("** means nothing here")
        options.append((option.arg, _value(option.value)))
    return Expression(_name(node.func.id), tuple(map(_expression, node.args)), tuple(options))


def _operation(node: ast.BinOp) -> Expression:
    one = _expression(node.left)
    if isinstance(node.op, ast.Mod):
        return Expression("top", (one,), (("k", _value(node.right)),))
    other = _expression(node.right)
    if isinstance(node.op, ast.RShift):
        if other.parts:
            raise ValueError(f"{other} works on another already")
        return Expression(other.name, (one,), other.options)
    if type(node.op) not in _JOINING:
        raise ValueError("the operators are %, >>, |, & and ^")
    return joined(_JOINING[type(node.op)], one, other)


def _name(identifier: str) -> str:
    return identifier.rstrip("_").replace("_", "-")


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return _CONSTANTS.get(node.id, node.id)
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(map(_value, node.elts))
    return ast.literal_eval(node)


def _literal(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, str):
        return value if value.isidentifier() and value not in _CONSTANTS else repr(value)
    return {True: "true", False: "false", None: "none"}[value] if isinstance(value, bool | None) else str(value)
