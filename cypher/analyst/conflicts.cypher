// title: Triples: that may contradict each other
// Subjects for which passages give different objects of one predicate, such as two places of birth. Two objects count
// if no passage states both (that is a list), neither is a part of the other (1872, May 1872), both hold digits or neither
// does (a year is no place), and their times do not exclude each other. Objects of one entity's names (SAME_AS) are one.
// First come the predicates that have one object by the schema of facts, then those with several for the fewest subjects.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $predicate: STRING = '' - only predicates that contain this, such as born; empty: all
// $limit: INTEGER = 25 - rows wanted
// -> subject: STRING - subject
// -> predicate: STRING - predicate
// -> objects: LIST<STRING> - what passages give as its object
// -> passages: INTEGER - passages that state one of them
// -> usual: FLOAT - share of the predicate's subjects that have one object
// -> nodes: LIST<NODE> - the triples, to be drawn
MATCH (c:Collection {name: $collection})
MATCH (t:Triple {collection: $collection}) WHERE toLower(t.predicate) CONTAINS toLower($predicate)
MATCH (s:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(o:Entity)
WITH c, toLower(t.predicate) AS predicate, s, o, collect(t) AS triples
WITH c, predicate, s, collect({object: o, triples: triples}) AS groups
WITH c, predicate, collect({subject: s, groups: groups}) AS subjects
WITH c, predicate, [one IN subjects WHERE size(one.groups) > 1] AS several, size(subjects) AS all
WITH c, predicate, several, 1 - toFloat(size(several)) / all AS usual
UNWIND several AS one
UNWIND one.groups AS a
UNWIND one.groups AS b
WITH c, predicate, usual, one.subject AS s, a, b, a.object AS o, b.object AS u
WHERE o.normal < u.normal AND NOT ' ' + o.normal + ' ' CONTAINS ' ' + u.normal + ' ' AND NOT ' ' + u.normal + ' ' CONTAINS ' ' + o.normal + ' '
  AND (o.normal =~ '.*\\d.*') = (u.normal =~ '.*\\d.*')
  AND NOT EXISTS { (o)-[:SAME_AS]-(u) }
  AND NOT any(t IN a.triples WHERE any(v IN b.triples WHERE t.valid_to <= v.valid_from OR v.valid_to <= t.valid_from
    OR EXISTS { (t)<-[:STATES]-()-[:STATES]->(v) }))
UNWIND a.triples + b.triples AS t
MATCH (p:Passage)-[:STATES]->(t)
WITH s, usual, t.relation IN c.one_valued AS single, predicate, t, p ORDER BY t.object
WITH s, predicate, usual, max(coalesce(single, false)) AS single, collect(DISTINCT t.object) AS objects, count(DISTINCT p) AS passages, collect(DISTINCT t) AS nodes
RETURN s.name AS subject, predicate, objects, passages, round(usual, 2) AS usual, nodes
ORDER BY single DESC, usual DESC, passages DESC, subject, predicate LIMIT toInteger($limit)
