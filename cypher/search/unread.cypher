// The passages of a collection that a model or service did not read with these settings yet, document by document.
// mode: read
// $collection: STRING - name of the collection
// $property: STRING - where passages keep what they were last read with: extracted or tagged
// $version: STRING - what the settings are known by, such as the version of a prompt
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection})
WHERE coalesce(p[$property], '') <> $version
MATCH (d:Document)-[:HAS_PASSAGE]->(p)
RETURN p.id AS id ORDER BY d.key, p.ordinal, id
