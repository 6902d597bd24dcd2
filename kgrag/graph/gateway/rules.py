"""Rules on tokens: which words, procedures and functions a statement may have, and how involved it may be."""

from dataclasses import dataclass

from kgrag.graph.gateway.lexer import CLAUSES, KEYWORDS, SEPARATE, Statement
from kgrag.values.errors import RefusedError

PROCEDURES = frozenset(
    """
    db.index.fulltext.queryNodes db.index.fulltext.queryRelationships
    db.index.vector.queryNodes db.index.vector.queryRelationships
    db.labels db.propertyKeys db.relationshipTypes
    db.schema.nodeTypeProperties db.schema.relTypeProperties db.schema.visualization
    """.split()
)
"""Procedures that read this database alone, and change nothing in the server."""

FUNCTIONS = frozenset(
    """
    abs acos all any asin atan atan2 avg btrim ceil char_length character_length coalesce collect cos cot
    count degrees e element elementid endnode exists exp floor haversin head id isempty isnan keys labels last left
    length log log10 lower ltrim max min nodes none normalize nullif percentilecont percentiledisc pi point properties
    radians rand randomuuid range reduce relationships replace reverse right round rtrim sign sin single size split
    sqrt startnode stdev stdevp substring sum tail tan timestamp toboolean tobooleanlist tobooleanornull tofloat
    tofloatlist tofloatornull tointeger tointegerlist tointegerornull tolower tostring tostringlist tostringornull
    toupper trim type upper valuetype shortestpath allshortestpaths
    point.distance point.withinbbox vector.similarity.cosine vector.similarity.euclidean
    date date.realtime date.statement date.transaction date.truncate
    datetime datetime.fromepoch datetime.fromepochmillis datetime.realtime datetime.statement datetime.transaction
    datetime.truncate duration duration.between duration.indays duration.inmonths duration.inseconds
    localdatetime localdatetime.realtime localdatetime.statement localdatetime.transaction localdatetime.truncate
    localtime localtime.realtime localtime.statement localtime.transaction localtime.truncate
    time time.realtime time.statement time.transaction time.truncate
    """.split()
)
"""Functions of Cypher that read neither files nor the network nor another database (in small letters)."""

SCALARS = frozenset(
    """
    abs avg ceil char_length character_length count degrees exists floor id elementid isempty isnan length log log10
    percentilecont percentiledisc pi point.distance radians rand round sign size sqrt stdev stdevp timestamp toboolean
    tofloat tointeger type valuetype vector.similarity.cosine vector.similarity.euclidean
    """.split()
)
"""Functions whose value is small, however large what they are given."""

SMALL_LISTS = frozenset("keys labels nodes relationships".split())
"""Functions whose lists are short by themselves."""

BEFORE_BRACKET = frozenset(
    """
    ALL AND ANY ASC ASCENDING BOTH BY CALL CASE CONTAINS DESC DESCENDING DIFFERENT DISTINCT ELEMENT ELEMENTS ELSE
    EXISTS FROM GROUP GROUPS IN JOIN LEADING LIMIT MATCH NOT OFFSET ON OR PATH PATHS RELATIONSHIP RELATIONSHIPS
    REPEATABLE RETURN SCAN SHORTEST SKIP THEN TRAILING UNWIND WALK WHEN WHERE WITH XOR
    """.split()
)
"""Words that a bracket may follow without being called."""

FIRST = frozenset("CALL MATCH OPTIONAL RETURN UNWIND WITH".split())
"""Words that a statement may begin with."""

FORBIDDEN = frozenset(
    """
    CREATE CYPHER DELETE DETACH DROP EXPLAIN FOREACH INSERT LOAD MERGE NODETACH PROFILE REMOVE SET SHOW TERMINATE
    TRANSACTION TRANSACTIONS USE
    """.split()
)
"""Words of statements that write, or that read something else than the graph."""

OPERATORS = frozenset(
    """
    AllNodesScan Anti AntiConditionalApply AntiSemiApply Apply Argument ArgumentTracker AssertSameNode
    AssertSameRelationship BidirectionalRepeat(Trail) BidirectionalRepeat(Walk) CacheProperties CartesianProduct
    ConditionalApply DirectedAllRelationshipsScan DirectedRelationshipByElementIdSeek DirectedRelationshipByIdSeek
    DirectedRelationshipIndexContainsScan DirectedRelationshipIndexEndsWithScan DirectedRelationshipIndexScan
    DirectedRelationshipIndexSeek DirectedRelationshipIndexSeekByRange DirectedRelationshipTypeScan
    DirectedRelationshipUniqueIndexSeek DirectedRelationshipUniqueIndexSeekByRange DirectedUnionRelationshipTypesScan
    Distinct DynamicDirectedRelationshipTypeLookup DynamicLabelNodeLookup DynamicUndirectedRelationshipTypeLookup
    Eager EagerAggregation EmptyResult EmptyRow ExhaustiveLimit Expand(All) Expand(Into) Filter
    IntersectionNodeByLabelsScan LetAntiSemiApply LetSelectOrAntiSemiApply LetSelectOrSemiApply LetSemiApply Limit
    MultiNodeIndexSeek NodeByElementIdSeek NodeByIdSeek NodeByLabelScan NodeCountFromCountStore NodeHashJoin
    NodeIndexContainsScan NodeIndexEndsWithScan NodeIndexScan NodeIndexSeek NodeIndexSeekByRange NodeLeftOuterHashJoin
    NodeRightOuterHashJoin NodeUniqueIndexSeek NodeUniqueIndexSeekByRange NodeVectorIndexSearch NonFuseable
    NullifyMetadata Optional OptionalExpand(All) OptionalExpand(Into) OrderedAggregation OrderedDistinct OrderedUnion
    PartialSort PartialTop PathPropagatingBFS PreserveOrder ProcedureCall ProduceResults ProjectEndpoints Projection
    RelationshipCountFromCountStore Repeat(Trail) Repeat(Walk) RollUpApply SelectOrAntiSemiApply SelectOrSemiApply
    SemiApply ShortestPath Skip Sort StatefulShortestPath(All) StatefulShortestPath(Into)
    StatefulShortestPath(All,Trail) StatefulShortestPath(Into,Trail) StatefulShortestPath(All,Walk)
    StatefulShortestPath(Into,Walk) SubtractionNodeByLabelsScan Top Top1WithTies TriadicBuild TriadicFilter
    TriadicSelection UndirectedAllRelationshipsScan UndirectedRelationshipByElementIdSeek
    UndirectedRelationshipByIdSeek UndirectedRelationshipIndexContainsScan UndirectedRelationshipIndexEndsWithScan
    UndirectedRelationshipIndexScan UndirectedRelationshipIndexSeek UndirectedRelationshipIndexSeekByRange
    UndirectedRelationshipTypeScan UndirectedRelationshipUniqueIndexSeek
    UndirectedRelationshipUniqueIndexSeekByRange UndirectedUnionRelationshipTypesScan Union UnionNodeByLabelsScan
    Unwind ValueHashJoin VarLengthExpand(All) VarLengthExpand(Into) VarLengthExpand(Pruning)
    VarLengthExpand(Pruning,BFS) VarLengthExpand(Pruning,BFS,All) VarLengthExpand(Pruning,BFS,Into)
    """.split()
)
"""Operators of Neo4j's plans that read (the partitioned ones of parallel queries are found by their prefix)."""


_SIGNS = frozenset(
    "+ - * / % ^ = <> < > <= >= =~ || . : | & ! AND OR XOR NOT IN IS CONTAINS STARTS ENDS CASE WHEN ( [ {".split()
)
_BEFORE_MAP = frozenset("CASE NOT DISTINCT".split())
_AFTER_NAME = frozenset(") ] : { * = IN , WHERE IS".split())
_PROCEDURES = frozenset(name.lower() for name in PROCEDURES)
_MOST_SIGNS = 100  # in one expression and those around it: the server's planner hangs where there are hundreds
_MOST_XOR = 8
_MOST_CLAUSES = 120
_MOST_PARTS = 24  # relationships and separate nodes that are matched together
_DEEPEST_QUERY = 6


def check_words(statement: Statement) -> None:
    """Check that the text is one statement that only reads. Raises RefusedError."""
    if not statement.tokens:
        raise RefusedError("The statement is empty.", "Write one that begins with MATCH, for example.")
    first = statement.at(0)
    if first not in FIRST:
        raise RefusedError(
            f"A statement may not begin with {first}.",
            f"Begin with one of {', '.join(sorted(FIRST))}: it may only read.",
        )
    last = len(statement.tokens) - 1
    for index, token in enumerate(statement.tokens):
        if token.kind == "symbol" and token.name == ";" and index != last:
            raise RefusedError("There is more than one statement.", "Send them one by one.")
        if token.kind == "word" and token.name in FORBIDDEN and not statement.names_something(index):
            raise RefusedError(
                f"{token.name} is refused: statements may only read this graph.",
                f"Leave it out, or write `{token.name.lower()}` in backticks if it is a name of yours.",
            )
        if token.kind == "word" and token.name in KEYWORDS and _names_a_variable(statement, index):
            raise RefusedError(
                f"{token.name} is a word of Cypher, and the name of a variable here.",
                f"Write `{token.name.lower()}` in backticks, or take another name.",
            )


def _names_a_variable(statement: Statement, index: int) -> bool:
    """Return whether the word is a new name of a value, a node or a path.

    The rules take it for a keyword.
    """
    before, after = statement.at(index - 1), statement.at(index + 1)
    if statement.names_something(index):
        return False
    if before == "AS" or after == "=":
        return True
    if after == "{" and statement.at(index) in _BEFORE_MAP:
        return False
    return before in ("(", "[", ",") and after in _AFTER_NAME


def check_calls(statement: Statement) -> None:
    """Check that all procedures and functions are on the lists. Raises RefusedError."""
    for index in range(len(statement.tokens)):
        if statement.at(index) == "CALL" and statement.is_name(index + 1) and not statement.names_something(index):
            name, last = path(statement, index + 1)
            if name not in _PROCEDURES:
                raise RefusedError(
                    f"The procedure {statement.text_of(index + 1, last + 1)} is not on the list.",
                    f"There are: {', '.join(sorted(PROCEDURES))}.",
                )
        if statement.at(index) != "(" or not statement.is_name(index - 1):
            continue
        name = called(statement, index)
        if name and name not in FUNCTIONS and not _is_procedure(statement, index):
            raise RefusedError(
                f"The function {name} is not on the list.", "Use Cypher's own functions of text, numbers, lists, time."
            )


def called(statement: Statement, bracket: int) -> str:
    """Return the function (in small letters) of a round bracket; the empty string if there is none."""
    if statement.at(bracket) != "(" or not statement.is_name(bracket - 1):
        return ""
    begin = _begin(statement, bracket)
    plain = begin == bracket - 1 and statement.kind(begin) == "word"
    word = statement.at(begin)
    if plain and word in BEFORE_BRACKET and word.lower() not in FUNCTIONS:
        return ""
    if statement.at(begin - 1) == ":" and statement.at(begin - 3) in ("INDEX", "SCAN", "SEEK"):
        return ""  # USING INDEX n:Label(property)
    return path(statement, begin)[0]


@dataclass(slots=True)
class _Level:
    """What was read since an open bracket: what nests its expression, what is matched, and whether MATCH came last."""

    signs: int = 0
    parts: int = 0
    matching: bool = False


def check_size(statement: Statement) -> None:
    """Check that the server's planner, which nothing interrupts, is quick. Raises RefusedError."""
    levels = [_Level()]
    exclusive = clauses = queries = 0
    for index in range(len(statement.tokens)):
        name, level = statement.at(index), levels[-1]
        opens = statement.partner.get(index, -1) > index
        if index in statement.partner and not opens:
            queries -= is_query(statement, statement.partner[index])
            levels.pop()
        elif name == ",":
            level.signs = 0
            level.parts += level.matching
        elif statement.begins_clause(index, CLAUSES):
            clauses += 1
            level.signs = 0
            level.parts *= name not in SEPARATE
            level.matching = name == "MATCH"
        elif name in _SIGNS and not statement.names_something(index):
            level.signs += 1
            level.parts += name == "-" and statement.at(index + 1) in ("-", "[")
            exclusive += name == "XOR"
        if opens:
            queries += is_query(statement, index)
            levels.append(_Level())
        if sum(level.signs for level in levels) > _MOST_SIGNS or exclusive > _MOST_XOR:
            raise RefusedError(
                f"An expression has more than {_MOST_SIGNS} operators and other signs, or {_MOST_XOR} XOR.",
                "Give a list as a parameter and use IN, or take it apart with WITH.",
            )
        if level.parts > _MOST_PARTS:
            raise RefusedError(
                f"More than {_MOST_PARTS} relationships and nodes are matched at once.", "Take them apart with WITH."
            )
        if queries > _DEEPEST_QUERY:
            raise RefusedError(f"Subqueries lie more than {_DEEPEST_QUERY} deep.", "Take the statement apart.")
    if clauses > _MOST_CLAUSES:
        raise RefusedError(f"The statement has more than {_MOST_CLAUSES} clauses.", "Take it apart.")


def check_cases(statement: Statement) -> None:
    """Check that no CASE compares another CASE: the planner repeats that at every WHEN. Raises RefusedError."""
    comparing = False
    for index in range(len(statement.tokens)):
        if statement.at(index) not in ("CASE", "WHEN") or statement.names_something(index):
            continue
        if statement.at(index) == "CASE" and comparing:
            raise RefusedError("A CASE stands in what another CASE compares.", "Name its value by WITH first.")
        comparing = statement.at(index) == "CASE" and statement.at(index + 1) != "WHEN"


def is_query(statement: Statement, bracket: int) -> bool:
    """Return whether the curly bracket there holds a subquery."""
    if statement.at(bracket) != "{" or bracket == 0:
        return False
    return statement.at(bracket - 1) in ("EXISTS", "COUNT", "COLLECT", "CALL", ")")


def _is_procedure(statement: Statement, bracket: int) -> bool:
    return statement.at(_begin(statement, bracket) - 1) == "CALL"


def _begin(statement: Statement, bracket: int) -> int:
    index = bracket - 1
    while statement.at(index - 1) == "." and statement.is_name(index - 2):
        index -= 2
    return index


def path(statement: Statement, index: int) -> tuple[str, int]:
    """Return the dotted name at a token, in small letters, and its end."""
    parts = [statement.tokens[index].name]
    while statement.at(index + 1) == "." and statement.is_name(index + 2):
        index += 2
        parts.append(statement.tokens[index].name)
    return ".".join(parts).lower(), index
