"""Statements that mean harm, made by the dozen: sixty of each kind, from what is small enough to what never ends."""

from collections.abc import Callable
from random import Random
from typing import Any

EACH = 60
Statement = tuple[str, dict[str, Any]]
_WORDS = ("limit", "order", "skip", "where", "with", "match", "return", "union", "offset", "call")
_VECTOR = ["db.index.vector.queryNodes", "db.index.vector.queryRelationships"]
_TEXT = ["db.index.fulltext.queryNodes", "db.index.fulltext.queryRelationships"]


def _huge(random: Random) -> int:
    return int(10 ** random.uniform(5, 12))


def results(i: int, random: Random) -> Statement:
    """Searches for very many results: as a number, a parameter, computed, from a list, in a map, in a subquery."""
    n = _huge(random)
    ways: list[tuple[str, dict[str, Any]]] = [
        (f"{n}", {}),
        ("$n", {"n": n}),
        ("$n", {"n": float(n)}),
        (f"toInteger('{n}')", {}),
        (f"{n // 7} * 7", {}),
        ("$n + $n", {"n": n}),
        (f"[1, {n}][1]", {}),
        (f"{{k: {n}}}.k", {}),
        ("size($t) * 100000", {"t": "x" * 50}),
        (f"CASE WHEN true THEN {n} ELSE 1 END", {}),
        (f"reduce(s = 1, x IN range(1, {random.randint(18, 60)}) | s * 2)", {}),
        (f"coalesce(null, {n})", {}),
    ]
    number, parameters = ways[i % len(ways)]
    name = random.choice(_VECTOR if i % 2 else _TEXT)
    if i % 2:
        call = f"CALL {name}($index, {number}, $v)"
    else:
        call = f"CALL {name}($index, 'fram', {{{random.choice(['limit', 'skip', '`limit`'])}: {number}}})"
    given = {"index": "harm_vector" if i % 2 else "harm_text", "v": [0.5] * 64, **parameters}
    if i % 3 == 1:
        return f"UNWIND [1, 2] AS u CALL (u) {{ {call} YIELD score RETURN score }} RETURN score", given
    if i % 6 == 2:
        given |= {"options": {"limit": n}}
        return f"CALL {name}($index, 'fram', $options) YIELD score RETURN score", given
    return f"{call} YIELD score RETURN score", given


def literal_lists(i: int, random: Random) -> Statement:
    """Loops within loops over lists that are written out."""
    deep, long = random.randint(4, 9), random.randint(30, 99)
    values = ", ".join(str(random.randint(1, 9)) for _ in range(long))
    heads = [
        "all(x{} IN [{}] WHERE ",
        "any(x{} IN [{}] WHERE false OR ",
        "size([x{} IN [{}] WHERE ",
        "none(x{} IN [{}] WHERE ",
    ]
    head = heads[i % len(heads)]
    if "[{}]" in head and deep * (len(values) + 30) > 9000:
        values = values[: 9000 // deep - 40].rpartition(",")[0]
    tail = {0: ")", 1: ")", 2: "]) > 0", 3: ")"}[i % len(heads)]
    if i % 5 == 4:
        return "RETURN " + f"reduce(s = 0, x IN [{values}] | s + " * 5 + "1" + ")" * 5, {}
    return "RETURN " + "".join(head.format(d, values) for d in range(deep)) + "1 > 0" + tail * deep, {}


def small_lists(i: int, random: Random) -> Statement:
    """Loops within loops over lists that are short by themselves, or have plain bounds."""
    deep = random.randint(4, 12)
    source = ["range(1, 90)", "keys(n)", "labels(n)", "keys($m)", "range(0, 99)"][i % 5]
    close = [")", "]"][i % 2]
    head = "all(x{} IN {} WHERE " if i % 2 == 0 else "[x{} IN {} | "
    body = "".join(head.format(d, source) for d in range(deep)) + f"n.number > {i}" + close * deep
    return f"MATCH (n:Web) RETURN {body}", {"m": {f"k{k}": k for k in range(99)}}


def chains(i: int, random: Random) -> Statement:
    """Properties of properties, slices of slices, items of items."""
    n = 5 + i * 10 if i < 50 else 40 * i
    value, link = [
        ("{a: 1}", ".a"),
        ("n", ".a"),
        ("[1, 2]", "[..1]"),
        ("[[1]]", "[0]"),
        ("$m", ".a"),
        ("n.text", "[0..]"),
        ("{a: 1}", "['a']"),
        ("n", ".limit"),
    ][i % 8]
    return f"MATCH (n:Web) WITH n, {value} AS m RETURN m{link * min(n, 9000 // len(link))} LIMIT {i + 1}", {
        "m": {"a": 1}
    }


def cases(i: int, random: Random) -> Statement:
    """CASE within CASE, in each of its places; many in a row."""
    n = 5 + i * 4
    value, close = [
        ("CASE WHEN n.a = 1 THEN {} ELSE 2 END", 1),
        ("CASE WHEN {} = 1 THEN 1 ELSE 2 END", 1),
        ("CASE WHEN n.a = 1 THEN 2 ELSE {} END", 1),
        ("CASE {} WHEN 1 THEN 2 END", 1),
        ("CASE WHEN n.a = 1 THEN 2 END + {}", 1),
        ("CASE n.order WHEN 1 THEN {} END", 1),
    ][i % 6]
    before, _, after = value.partition("{}")
    n = min(n, 9000 // len(value))
    return f"MATCH (n:Web) RETURN {before * n}1{after * n * close} LIMIT {i + 1}", {}


def labels(i: int, random: Random) -> Statement:
    """Many labels on a node, one after another, or with & and !."""
    n = 3 + i * 4
    names = [f"A{random.randint(0, 9)}" if i % 3 == 0 else f"A{k}" for k in range(n)]
    sign = [":", "&", "&!", ":limit:", "&(B|C)&"][i % 5]
    return f"MATCH (n:{sign.join(names)}) RETURN n LIMIT {i + 1}", {}


def alternatives(i: int, random: Random) -> Statement:
    """Conditions whose alternatives multiply."""
    n = 3 + i
    way = [
        lambda k: f"(n:A{k}|B{k}|C{k})",
        lambda k: f"(n:A{k} OR n:B{k})",
        lambda k: f"(n:A{k}|limit|B{k})",
        lambda k: f"n:A{k}|B{k}",
        lambda k: f"((n:A{k}) OR (n:B{k}) OR n.c = {k})",
        lambda k: f"(n:A{k}|(B{k}&C{k}))",
    ][i % 6]
    return "MATCH (n) WHERE " + " AND ".join(way(k) for k in range(n)) + " RETURN n LIMIT 1", {}


def patterns(i: int, random: Random) -> Statement:
    """Many relationships that are matched together."""
    n = 6 + i * 4
    ways = [
        "MATCH (n0)" + "".join(f"--(n{k})" for k in range(1, n)),
        "MATCH " + ", ".join(f"(n0)--(n{k})" for k in range(1, n)),
        "MATCH " + ", ".join(f"(n{k})-[:NEXT]->(n{random.randint(0, n)})" for k in range(n)),
        " ".join(f"MATCH (n{k})--(n{k + 1})" for k in range(min(n, 110))),
        "MATCH (n0) " + " ".join(f"OPTIONAL MATCH (n0)--(n{k + 1})" for k in range(min(n, 110))),
        "MATCH " + ", ".join(f"(n{k})" for k in range(n)),
        "MATCH (n0) WHERE " + " AND ".join(f"(n0)--(:A{k})" for k in range(n)),
        "MATCH (n0)" + "".join(f"((x{k})--(y{k})){{1,2}}(n{k + 1})" for k in range(n)),
        "MATCH (n0)-[:`limit`]-" + "".join(f"(n{k})-[:LIMIT]-" for k in range(1, n)) + "(z)",
        "MATCH " + ", ".join(f"(n{k} {{limit: 1, a: n0.a}})" for k in range(n)),
    ]
    return ways[i % len(ways)] + f" RETURN count(*) AS c{i}", {}


def hidden(i: int, random: Random) -> Statement:
    """Long expressions between words that look like clauses: properties, labels, variables, STARTS WITH."""
    word = _WORDS[i % len(_WORDS)]
    n = 100 + 20 * i
    ways = [
        ("MATCH (n:Web) RETURN ", f"n.{word} + 1", " + "),
        ("MATCH (n:Web) WHERE ", "n.text STARTS WITH 'a'", " AND "),
        (f"WITH 1 AS {word} RETURN ", f"{word} + 1", " - "),
        (f"WITH 1 AS starts, 2 AS {word} RETURN ", "starts", " + "),
        ("MATCH (n:Web) WHERE ", f"n:{word.title()}", " AND "),
        (f"MATCH ({word}:Web) RETURN ", f"{word}.a", " + "),
        (f"UNWIND [1] AS x RETURN [{word} IN [1] | ", f"{word} + 1", " + "),
        (f"MATCH {word} = (n:Web) RETURN ", f"length({word})", " + "),
    ]
    head, part, sign = ways[i % len(ways)]
    body = sign.join([part] * min(n, 8500 // len(part + sign)))
    close = "]" if head.endswith("| ") else ""
    tail = f" RETURN count(*) AS c{i}" if head.endswith("WHERE ") else f" AS c{i}"
    return head + body + close + tail, {}


def growing(i: int, random: Random) -> Statement:
    """Values that double from step to step, under names that are words of Cypher."""
    names = ["count", "exists", "end", "asc", "desc", "starts", "ends", "true", "null", "false", "limit", "distinct"]
    name, n = names[i % len(names)], random.randint(26, 50)
    ways = [
        (f"WITH 'aaaa' AS {name} ", f"WITH {name} + {name} AS {name} ", f"RETURN size({name})"),
        (f"WITH ['a'] AS {name} ", f"WITH [{name}, {name}] AS {name} ", f"RETURN {name}"),
        (f"WITH 'a' AS s, 1 AS {name} ", f"WITH s + s AS s, {name} ", "RETURN size(s)"),
        (f"WITH 1 AS {name}, 'a' AS s ", f"WITH {name}, s + s AS s ", "RETURN size(s)"),
        (f"WITH 'aaaa' AS s, 1 AS {name} ", f"WITH {name} AS {name}, replace(s, 'a', s) AS s ", "RETURN size(s)"),
    ]
    head, step, tail = ways[(i // len(names)) % len(ways)]
    return head + step * n + tail, {}


def newer(i: int, random: Random) -> Statement:
    """Clauses of Cypher 25, which the rules do not read and no server may take."""
    n = random.randint(30, 60)
    ways = [
        "WITH 'a' AS s " + "LET s = s + s " * n + "RETURN size(s)",
        "WITH 'a' AS s0 " + "".join(f"LET s{k + 1} = s{k} + s{k} " for k in range(n)) + f"RETURN size(s{n})",
        "MATCH (n) FILTER " + "NOT " * n + "n.a = 1 RETURN n",
        "MATCH (n) FILTER WHERE n.a = 1 RETURN n",
        "RETURN 'a' AS s " + "NEXT RETURN s + s AS s " * n,
        "MATCH (n:Web) SEARCH n IN (VECTOR INDEX harm_vector FOR $v LIMIT 1000000000) RETURN n",
        "FOR x IN range(1, 1000000000) RETURN collect(x)",
        "UNWIND [1] AS x FOR y IN [x, x] RETURN y",
        "RETURN allReduce(s = 'a', x IN range(1, 60) | s + s, true)",
        "WHEN true THEN RETURN 1 ELSE RETURN 2",
        "MATCH (n) RETURN coll.flatten([[n], [n]])",
        "RETURN 1 AS x NEXT FILTER x = 1 RETURN x",
    ]
    return ways[i % len(ways)], {"v": [0.5] * 64, "i": i}


KINDS: dict[str, Callable[[int, Random], Statement]] = {
    kind.__name__: kind
    for kind in (
        results, literal_lists, small_lists, chains, cases, labels, alternatives, patterns, hidden, growing, newer
    )
}  # fmt: skip


def family(kind: str) -> list[Statement]:
    """The statements of a kind, always the same."""
    return [KINDS[kind](i, Random(f"{kind} {i}")) for i in range(EACH)]
