// Make the labels of the graph before Kgrag, so that labels(n)[0] of a passage is Passage: Neo4j returns them as they were made.
// mode: write
// $labels: LIST<STRING> - labels
UNWIND $labels AS label
CALL db.createLabel(label)
FINISH
