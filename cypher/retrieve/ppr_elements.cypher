// Personalised PageRank, exact: the seed entities in the whole graph.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> id: STRING - entity id
// -> element: STRING - its element id
// -> df: INTEGER - passages that mention it
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
RETURN id, elementId(e) AS element, e.df AS df
