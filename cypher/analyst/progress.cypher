// title: Collection: what is done, what is due
// The progress of extraction and tagging, and the pending passages of the stages over the whole corpus.
// mode: read
// each: worked
// $collection: STRING = 'default' - name of the collection
// -> what: STRING - the counted thing
// -> version: STRING - version of the prompt, settings of the tagger, or name of the stage
// -> number: INTEGER - how many
MATCH (c:Kgrag:Collection {id: $collection})
CALL () {
  MATCH (p:Passage {collection: $collection})
  WITH p.extracted AS extracted, p.tagged AS tagged, count(*) AS number
  WITH collect({extracted: extracted, tagged: tagged, number: number}) AS groups
  UNWIND [['passages extracted', 'extracted'], ['passages tagged', 'tagged']] AS what
  UNWIND groups AS g
  RETURN CASE WHEN g[what[1]] IS NULL THEN replace(what[0], 'passages', 'passages not') ELSE what[0] END AS what, coalesce(g[what[1]], '') AS version, g.number AS number
  UNION ALL
  MATCH (n:{label}) WHERE n.collection = $collection AND n.todo IS NOT NULL UNWIND n.todo AS stage RETURN '{label} nodes due' AS what, stage AS version, 1 AS number
}
RETURN what, version, sum(number) AS number ORDER BY what, version
