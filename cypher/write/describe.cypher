// Store the description of the graph in the database: the meaning of each label, relationship type and property, a line each.
// mode: write
// $digest: STRING - hash of the lines
// $labels: LIST<STRING> - label: sentence
// $relationships: LIST<STRING> - type and the labels that it joins: sentence
// $properties: LIST<STRING> - label or type and property: type, sentence
MERGE (s:Kgrag:Schema {id: 'kgrag/schema'})
ON CREATE SET s.name = 'kgrag schema', s.collections = 0
SET s.described = $digest, s.labels = $labels, s.relationships = $relationships, s.properties = $properties
