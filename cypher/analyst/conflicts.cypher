// title: Triples: that may contradict each other
// Subjects with different objects of one predicate, such as two places of birth. Two objects count if no passage states
// both (a list), neither is part of the other (1872, May 1872), both hold digits or neither does (a year is no place), no
// SAME_AS ties them, and their times overlap. Predicates with one object by the schema of facts come first. The others
// follow by agreement; a predicate whose facts hardly ever agree (is, wrote) is left out.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $predicate: STRING = '' - only predicates that contain this, such as born; empty: all
// $limit: INTEGER = 25 - rows wanted
// -> subject: STRING - subject
// -> predicate: STRING - predicate
// -> objects: LIST<STRING> - its objects in the passages
// -> passages: INTEGER - passages that state one of them
// -> agreement: FLOAT - (subjects with one object + 1) / (all + 2), of the predicate's subjects with two facts or more
// -> nodes: LIST<NODE> - the triples, to be drawn
MATCH (c:Kgrag:Collection {id: $collection})
MATCH (t:Triple {collection: $collection}) WHERE toLower(t.predicate) CONTAINS toLower($predicate)
MATCH (s:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(o:Entity)
WITH c, toLower(t.predicate) AS predicate, s, o, collect(t) AS triples
WITH c, predicate, s, collect({object: o, triples: triples}) AS groups, sum(size(triples)) AS facts WHERE facts > 1
WITH c, predicate, collect({subject: s, groups: groups}) AS subjects
WITH c, predicate, subjects, (1.0 + size([one IN subjects WHERE size(one.groups) = 1])) / (2 + size(subjects)) AS agreement
WITH c, predicate, subjects, agreement, head(head(subjects).groups).triples[0].relation IN c.one_valued AS single
WHERE single OR agreement > 0.2
UNWIND subjects AS one UNWIND one.groups AS a UNWIND one.groups AS b
WITH predicate, agreement, single, one.subject AS s, a, b, a.object AS o, b.object AS u
WHERE o.normal < u.normal AND NOT ' ' + o.normal + ' ' CONTAINS ' ' + u.normal + ' ' AND NOT ' ' + u.normal + ' ' CONTAINS ' ' + o.normal + ' '
  AND (o.normal =~ '.*\\d.*') = (u.normal =~ '.*\\d.*')
  AND NOT EXISTS { (o)-[:SAME_AS]-(u) }
  AND NOT any(t IN a.triples WHERE any(v IN b.triples WHERE EXISTS { (t)<-[:STATES]-()-[:STATES]->(v) }
    OR coalesce(t.valid_to <= v.valid_from, false) OR coalesce(v.valid_to <= t.valid_from, false)))
UNWIND a.triples + b.triples AS t
MATCH (p:Passage)-[:STATES]->(t)
WITH s, predicate, agreement, single, t, p ORDER BY t.object
WITH s, predicate, agreement, single, collect(DISTINCT t.object) AS objects, count(DISTINCT p) AS passages, collect(DISTINCT t) AS nodes
RETURN s.name AS subject, predicate, objects, passages, round(agreement, 2) AS agreement, nodes
ORDER BY coalesce(single, false) DESC, agreement DESC, passages DESC, subject, predicate LIMIT toInteger($limit)
