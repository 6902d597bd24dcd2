// The passages of a collection that were not extracted with a prompt yet, document by document.
// mode: read
// $collection: STRING - name of the collection
// $version: STRING - version of the prompt
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection})
WHERE p.extracted IS NULL OR p.extracted <> $version
MATCH (d:Document)-[:HAS_PASSAGE]->(p)
RETURN p.id AS id ORDER BY d.key, p.ordinal, id
