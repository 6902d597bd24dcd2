// How many nodes have each label, as the store counts them: no node is read.
// mode: read
// -> label: STRING - label
// -> number: INTEGER - its nodes
CALL db.stats.retrieve('GRAPH COUNTS') YIELD data
UNWIND data.nodes AS node
WITH node WHERE node.label IS NOT NULL
RETURN node.label AS label, node.count AS number ORDER BY label
