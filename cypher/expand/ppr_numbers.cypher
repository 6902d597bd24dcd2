// Personalised PageRank, exact: the seed entities in the whole graph.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> id: STRING - entity id
// -> number: INTEGER - its internal number
// -> df: INTEGER - passages that mention it
UNWIND $ids AS id
MATCH (e:Entity {id: id})
RETURN id, id(e) AS number, e.df AS df
