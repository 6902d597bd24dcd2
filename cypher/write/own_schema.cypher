// Give the Schema node of schema 14, and its collections, the label Kgrag and ids that no other node has.
// mode: write
// -> names: LIST<STRING> - names of the collections
OPTIONAL MATCH (s:Schema {id: 'kgrag'}) WHERE s.version IS NOT NULL
SET s:Kgrag, s.id = 'kgrag/schema'
WITH count(s) AS schemas
OPTIONAL MATCH (c:Collection) WHERE c.collection = c.name AND c.embedder IS NOT NULL
SET c:Kgrag, c.id = c.name
RETURN collect(c.name) AS names
