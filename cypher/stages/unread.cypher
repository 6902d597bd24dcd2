// The passages of a collection that a model or service did not process with these settings yet, best connected first.
// Passages of documents whose title most passages name come first, then passages that share the most and rarest names
// with others. So a part that is processed as a trial or within a budget serves more questions.
// mode: read
// $collection: STRING - name of the collection
// $property: STRING - where passages keep what they were last read with: extracted or tagged
// $version: STRING - a text that identifies the settings, such as the version of a prompt
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection})
WHERE coalesce(p[$property], '') <> $version
MATCH (d:Document)-[:HAS_PASSAGE]->(p)
WITH d, p,
     reduce(most = 0, df IN [(d)-[:ABOUT {weight: 1.0}]->(e:Entity) | e.df] | CASE WHEN df > most THEN df ELSE most END) AS named,
     reduce(sum = 0.0, df IN [(p)-[:MENTIONS]->(e:Entity) WHERE e.df > 1 | e.df] | sum + 1.0 / df) AS shared
RETURN p.id AS id ORDER BY named DESC, shared DESC, d.key, p.ordinal, id
