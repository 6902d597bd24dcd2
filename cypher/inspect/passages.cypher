// The passages of a collection, grouped by their numbers of mentions and triples, by edges of other kinds, by whether
// they have a vector, and by the versions of extraction and tagging.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vectors: embedding or embedding_b
// -> mentions: INTEGER - entities that such a passage mentions
// -> keywords: BOOLEAN - whether it has any
// -> triples: INTEGER - triples that it states
// -> similar: BOOLEAN - whether it is linked to passages as similar
// -> vector: BOOLEAN - whether it has a vector
// -> extracted: STRING - version of the prompt that triples were extracted with, or null
// -> tagged: STRING - version of the settings that TAGME annotated it with, or null
// -> characters: INTEGER - length of the texts of all passages like that
// -> number: INTEGER - how many passages are like that
MATCH (p:Passage {collection: $collection})
RETURN COUNT { (p)-[:MENTIONS]->() } AS mentions, EXISTS { (p)-[:HAS_KEYWORD]->() } AS keywords,
       COUNT { (p)-[:STATES]->() } AS triples, EXISTS { (p)-[:SIMILAR]->() } AS similar,
       CASE $embedding WHEN 'embedding_b' THEN p.embedding_b IS NOT NULL ELSE p.embedding IS NOT NULL END AS vector,
       p.extracted AS extracted, p.tagged AS tagged, sum(size(p.text)) AS characters, count(*) AS number
