// The passages of a collection by what they have: how many edges of each kind, a vector, what they were read with.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vectors: embedding or embedding_b
// -> mentions: INTEGER - entities that such a passage mentions
// -> keywords: INTEGER - keywords that it has
// -> triples: INTEGER - triples that it states
// -> similar: INTEGER - passages that it is linked to as similar
// -> vector: BOOLEAN - whether it has a vector
// -> extracted: STRING - version of the prompt that triples were extracted with, or null
// -> tagged: STRING - version of the settings that TAGME annotated it with, or null
// -> number: INTEGER - how many passages are like that
MATCH (p:Passage {collection: $collection})
RETURN COUNT { (p)-[:MENTIONS]->() } AS mentions, COUNT { (p)-[:HAS_KEYWORD]->() } AS keywords,
       COUNT { (p)-[:STATES]->() } AS triples, COUNT { (p)-[:SIMILAR]->() } AS similar,
       CASE $embedding WHEN 'embedding_b' THEN p.embedding_b IS NOT NULL ELSE p.embedding IS NOT NULL END AS vector,
       p.extracted AS extracted, p.tagged AS tagged, count(*) AS number
