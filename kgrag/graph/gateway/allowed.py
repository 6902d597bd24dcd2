"""Lists of what a statement may call and what its plan may hold."""

import re

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

OPERATORS = re.compile(
    r"""(Partitioned)?(
    \w*(Scan|Seek|SeekByRange|Lookup|FromCountStore|HashJoin|VectorIndexSearch)
    |(Anti|Conditional|Let|Or|RollUp|Select|Semi)*Apply|(BidirectionalRepeat|Repeat)\((Trail|Walk)\)
    |(Optional|VarLength|)Expand\([\w,]+\)|StatefulShortestPath\([\w,]+\)|Triadic\w+
    |(Eager|Exhaustive|Ordered|Partial|)(Aggregation|Distinct|Limit|Sort|Top|Union)
    |Anti|Argument|ArgumentTracker|AssertSameNode|AssertSameRelationship|CacheProperties|CartesianProduct|Eager|EmptyResult
    |EmptyRow|Filter|NonFuseable|NullifyMetadata|Optional|PathPropagatingBFS|PreserveOrder|ProcedureCall|ProduceResults
    |ProjectEndpoints|Projection|ShortestPath|Skip|Top1WithTies|Unwind)""",
    re.VERBOSE,
)
"""Operators of Neo4j's plans that read, by their names without spaces."""

SHOWING = frozenset("ShowConstraints ShowFunctions ShowIndexes ShowProcedures".split())
"""Operators that list what the database has, for its owner."""
