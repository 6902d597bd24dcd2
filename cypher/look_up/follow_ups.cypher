// Follow-up topics of cited passages: names with a document of their own that is not cited, and pairs of names that are
// connected only by an uncited passage.
// mode: read
// $passages: LIST<STRING> - ids of the cited passages
// $said: STRING - question and answer
// $longest: INTEGER - characters of a name
// $cap: INTEGER - passages that a name may be mentioned in
// $reach: INTEGER - names that pairs are made of
// $limit: INTEGER - leads, and pairs, wanted
// -> leads: LIST<MAP> - {name, text (the beginning of its document)}, names in the answer first
// -> pairs: LIST<MAP> - {one (a name of the answer), other}
// -> more: LIST<STRING> - names in the answer that uncited passages mention, too
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Kgrag:Passage) WHERE p.id IN $passages
WITH collect(DISTINCT d) AS documents, collect(DISTINCT p) AS cited
CALL (documents, cited) {
  UNWIND cited AS p
  MATCH (p)-[:MENTIONS]->(e:Entity)
  WHERE size(e.name) <= $longest AND e.df <= $cap AND e.name =~ '[\\p{Lu}\\p{Lo}].*'
  WITH documents, e, count(DISTINCT p) AS times
  WITH e, times, toLower($said) CONTAINS toLower(e.name) AS told,
    EXISTS { MATCH (e)<-[:ABOUT]-(d:Document) WHERE d IN documents } AS own,
    head(COLLECT { MATCH (e)<-[a:ABOUT]-(d:Document) WHERE a.weight >= 1 AND NOT d IN documents RETURN d ORDER BY d.key LIMIT 1 }) AS lead
  ORDER BY told DESC, times DESC, e.df, e.name
  RETURN collect({name: e, times: times, told: told, own: own, lead: lead}) AS names
}
CALL (names) {
  UNWIND [n IN names WHERE n.lead IS NOT NULL AND NOT n.own][0..$limit] AS n
  WITH n.name AS e, n.lead AS d
  RETURN collect({name: e.name, text: head(COLLECT { MATCH (d)-[:HAS_PASSAGE]->(p:Passage) RETURN left(p.text, 400) ORDER BY p.ordinal LIMIT 1 })}) AS leads
}
CALL (names, cited) {
  WITH cited, [n IN names WHERE n.told OR n.lead IS NOT NULL][0..$reach] AS best
  UNWIND best AS a UNWIND best AS b
  WITH cited, a.name AS x, b.name AS y, a.told AS told, b.told AS both
  WHERE told AND x <> y AND (NOT both OR x.name < y.name)
    AND NOT EXISTS { MATCH (x)<-[:MENTIONS]-(p:Passage)-[:MENTIONS]->(y) WHERE p IN cited }
    AND EXISTS { MATCH (x)<-[:MENTIONS]-(q:Passage)-[:MENTIONS]->(y) }
  WITH x, y, both ORDER BY both DESC, x.df + y.df, x.name, y.name LIMIT $limit
  RETURN collect({one: x.name, other: y.name}) AS pairs
}
RETURN leads, pairs, [n IN names WHERE n.told AND n.name.df - n.times >= 2 | n.name.name][0..$limit] AS more
