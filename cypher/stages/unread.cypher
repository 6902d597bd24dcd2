// The passages of a collection that a model or service did not read with these settings yet, the most telling first.
// First those of documents whose title most passages name, then those that share the most and rarest names with others:
// what leads from passage to passage. So a part that is read, for a try or a budget, serves more questions.
// mode: read
// $collection: STRING - name of the collection
// $property: STRING - where passages keep what they were last read with: extracted or tagged
// $version: STRING - what the settings are known by, such as the version of a prompt
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection})
WHERE coalesce(p[$property], '') <> $version
MATCH (d:Document)-[:HAS_PASSAGE]->(p)
WITH d, p,
     reduce(most = 0, df IN [(d)-[:ABOUT {weight: 1.0}]->(e:Entity) | e.df] | CASE WHEN df > most THEN df ELSE most END) AS named,
     reduce(sum = 0.0, df IN [(p)-[:MENTIONS]->(e:Entity) WHERE e.df > 1 | e.df] | sum + 1.0 / df) AS shared
RETURN p.id AS id ORDER BY named DESC, shared DESC, d.key, p.ordinal, id
