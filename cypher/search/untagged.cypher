// The passages of a collection that TAGME did not annotate with these settings yet, document by document.
// mode: read
// $collection: STRING - name of the collection
// $version: STRING - what tells these settings from others
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection})
WHERE p.tagged IS NULL OR p.tagged <> $version
MATCH (d:Document)-[:HAS_PASSAGE]->(p)
RETURN p.id AS id ORDER BY d.key, p.ordinal, id
