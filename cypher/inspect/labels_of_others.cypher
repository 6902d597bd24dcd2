// Labels that other nodes of the database have than those of kgrag.
// mode: read
// $labels: LIST<STRING> - labels to look for
// -> label: STRING - one of them
CALL db.labels() YIELD label WHERE label IN $labels
MATCH (n:$(label)) WHERE NOT n:Kgrag
RETURN DISTINCT label ORDER BY label
