// Remove the summaries of a collection that no passage is under any more, and those above them.
// mode: write
// $collection: STRING - name of the collection
// -> removed: INTEGER - how many were removed
MATCH (s:Summary {collection: $collection})
WHERE NOT EXISTS { (s)-[:SUMMARISES*1..5]->(:Passage) }
DETACH DELETE s
RETURN count(*) AS removed
