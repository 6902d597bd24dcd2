// Take back all that entity resolution has written to a collection: its ties, and what a language model told apart.
// mode: auto
// $collection: STRING - name of the collection
// -> removed: INTEGER - ties that were removed
MATCH (e:Entity {collection: $collection})
CALL (e) {
  OPTIONAL MATCH (e)-[s:SAME_AS]->() WHERE s.by IN ['rules', 'model']
  WITH e, collect(s) AS ties
  SET e.apart = null
  FOREACH (s IN ties | DELETE s)
  RETURN size(ties) AS removed
} IN TRANSACTIONS OF 2000 ROWS
RETURN coalesce(sum(removed), 0) AS removed
