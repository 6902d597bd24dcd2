"""Statements that analysts write, each with what it must give where that is known: a list of rows, or a count."""

# ruff: noqa: E501

from typing import Any

HONEST: list[tuple[str, list[list[Any]] | int | None]] = [
    ("RETURN 1 AS one", [[1]]),
    ("MATCH (d:Document {collection: $c}) RETURN count(d) AS documents", [[3]]),
    ("MATCH (d:Document {collection: $c}) RETURN d.title AS title ORDER BY title;",
     [["Colin Archer"], ["Fram"], ["Larvik"]]),
    ("MATCH (p:Passage {collection: $c})-[:MENTIONS]->(e:Entity) RETURN p, e LIMIT 5", None),
    ("MATCH path = (p:Passage {collection: $c})-[:STATES]->(t:Triple) RETURN path", 2),
    ("MATCH (t:Triple {collection: $c}) RETURN t.subject AS s, t.predicate AS p, t.object AS o ORDER BY s",
     [["Colin Archer", "lived in", "Larvik"], ["Fram", "designed by", "Colin Archer"]]),
    ("MATCH (d:Document {collection: $c})-[:HAS_PASSAGE]->(p) RETURN d.title AS t, count(p) AS n ORDER BY n DESC, t", 3),
    ("MATCH (e:Entity {collection: $c}) WHERE toLower(e.name) CONTAINS 'archer' RETURN e.name", [["Colin Archer"]]),
    ("MATCH (e:Entity {collection: $c}) WHERE e.name STARTS WITH 'Col' OR e.name ENDS WITH 'vik' RETURN count(e)", [[2]]),
    ("MATCH (e:Entity {collection: $c}) WHERE e.name =~ '(?i).*archer.*' RETURN e.name", [["Colin Archer"]]),
    ("MATCH (e:Entity {collection: $c}) WHERE e.name =~ $p RETURN e.name", [["Fram"]]),
    ("MATCH (e:Entity {collection: $c}) WHERE e.name =~ '[A-Z][a-z]+ [A-Z][a-z]+' RETURN count(e)", [[1]]),
    ("MATCH (a:Entity {collection: $c, name: 'Fram'}), (b:Entity {collection: $c, name: 'Larvik'}) "
     "MATCH p = shortestPath((a)-[*]-(b)) RETURN length(p) > 0 AS found", [[True]]),
    ("MATCH (a:Entity {collection: $c, name: 'Fram'}), (b:Entity {collection: $c, name: 'Larvik'}) "
     "MATCH p = allShortestPaths((a)-[:SUBJECT|OBJECT|MENTIONS*..6]-(b)) RETURN p", None),
    ("MATCH p = ANY SHORTEST (a:Entity {collection: $c, name: 'Fram'})--+(b:Entity {collection: $c, name: 'Larvik'}) "
     "RETURN [n IN nodes(p) | coalesce(n.name, labels(n)[0])] AS names", 1),
    ("MATCH (a:Entity {collection: $c, name: 'Fram'})-[*1..3]-(n) RETURN DISTINCT labels(n) AS l, count(*) AS n", None),
    ("MATCH (a:Entity {collection: $c, name: 'Fram'}) ((x)--(y)){1,3} (b:Passage) RETURN count(DISTINCT b) > 0", [[True]]),
    ("MATCH (a:Entity {collection: $c, name: 'Fram'})-->{0,2}(b) RETURN count(b) > 0", [[True]]),
    ("MATCH (n {collection: $c}) RETURN labels(n)[0] AS label, count(*) AS nodes ORDER BY nodes DESC", None),
    ("MATCH ({collection: $c})-[r]->() RETURN type(r) AS type, count(*) AS edges ORDER BY edges DESC", None),
    ("CALL db.labels() YIELD label RETURN count(label) > 3", [[True]]),
    ("CALL db.relationshipTypes()", None),
    ("CALL db.propertyKeys() YIELD propertyKey AS k WHERE k = 'name' RETURN k", [["name"]]),
    ("CALL db.schema.visualization()", 1),
    ("CALL db.schema.nodeTypeProperties() YIELD nodeType, propertyName RETURN nodeType, collect(propertyName)", None),
    ("MATCH (k:Collection {name: $c}) CALL db.index.fulltext.queryNodes('passage_text_c' + k.number, 'archer') "
     "YIELD node, score RETURN node.name AS name, score ORDER BY score DESC", None),
    ("MATCH (k:Collection {name: $c}) MATCH (p:Passage {collection: $c}) WITH k, p LIMIT 1 "
     "CALL db.index.vector.queryNodes('passage_' + k.embedding + '_c' + k.number, 3, p[k.embedding]) "
     "YIELD node AS near, score RETURN near.name, round(score, 3) AS score", 3),
    ("MATCH (a:Passage {collection: $c}), (b:Passage {collection: $c}) WHERE a.id < b.id "
     "RETURN a.name, b.name, vector.similarity.cosine(a.embedding, b.embedding) AS near ORDER BY near DESC", 3),
    ("MATCH (e:Entity {collection: $c}) OPTIONAL MATCH (e)<-[m:MENTIONS]-() RETURN e.name, count(m) AS n ORDER BY n", None),
    ("MATCH (e:Entity {collection: $c}) RETURN e.name, COUNT { (e)<-[:MENTIONS]-() } AS mentions ORDER BY e.name", None),
    ("MATCH (e:Entity {collection: $c}) WHERE NOT EXISTS { (e)<-[:MENTIONS]-() } RETURN e.name", None),
    ("MATCH (e:Entity {collection: $c}) WHERE NOT (e)--() RETURN count(e)", [[0]]),
    ("MATCH (e:Entity {collection: $c}) WHERE exists((e)--()) RETURN count(e) > 0", [[True]]),
    ("MATCH (d:Document {collection: $c}) RETURN d.title, COLLECT { MATCH (d)-[:HAS_PASSAGE]->(p) RETURN p.text } AS t", 3),
    ("MATCH (d:Document {collection: $c}) RETURN d {.title, passages: [(d)-[:HAS_PASSAGE]->(p) | p.text]} AS d", 3),
    ("MATCH (d:Document {collection: $c}) CALL (d) { MATCH (d)-[:HAS_PASSAGE]->(p) RETURN count(p) AS n } "
     "RETURN sum(n) AS passages", [[3]]),
    ("MATCH (d:Document {collection: $c}) CALL { WITH d MATCH (d)-->(p:Passage) RETURN p LIMIT 1 } RETURN count(p)", [[3]]),
    ("MATCH (d:Document {collection: $c}) WITH collect(d.title) AS titles RETURN size(titles), titles[0..2]", 1),
    ("MATCH (t:Triple {collection: $c}) WITH t.subject AS s, collect({p: t.predicate, o: t.object}) AS facts "
     "RETURN s, [f IN facts WHERE f.p CONTAINS 'in' | f.o] AS objects ORDER BY s", [["Colin Archer", ["Larvik"]], ["Fram", []]]),
    ("UNWIND ['Fram', 'Larvik'] AS name MATCH (e:Entity {collection: $c, name: name}) RETURN e.name ORDER BY e.name",
     [["Fram"], ["Larvik"]]),
    ("UNWIND $names AS name OPTIONAL MATCH (e:Entity {collection: $c, name: name}) RETURN name, e IS NOT NULL AS found",
     [["Fram", True], ["Nobody", False]]),
    ("UNWIND range(1, 100) AS i RETURN sum(i) AS s", [[5050]]),
    ("UNWIND range(0, 20, 5) AS i RETURN collect(i) AS l", [[[0, 5, 10, 15, 20]]]),
    ("RETURN [x IN range(1, 10) WHERE x % 2 = 0 | x * x] AS squares", [[[4, 16, 36, 64, 100]]]),
    ("RETURN reduce(total = 0, x IN [1, 2, 3] | total + x) AS total", [[6]]),
    ("RETURN reduce(s = '', w IN split('a b c', ' ') | s + toUpper(w)) AS s", [["ABC"]]),
    ("RETURN reduce(seen = [], x IN [1, 1, 2] | CASE WHEN x IN seen THEN seen ELSE seen + x END) AS s", [[[1, 2]]]),
    ("RETURN all(x IN [1, 2] WHERE x > 0) AND none(x IN [1] WHERE x > 1) AND single(x IN [1] WHERE x = 1) AS t", [[True]]),
    ("MATCH (p:Passage {collection: $c}) WITH avg(size(p.text)) AS mean, max(size(p.text)) AS most, stDev(size(p.text)) AS s "
     "RETURN round(mean) > 10 AND most >= mean AND s >= 0 AS fine", [[True]]),
    ("MATCH (p:Passage {collection: $c}) RETURN percentileCont(size(p.text), 0.5) > 0 AS fine", [[True]]),
    ("MATCH (p:Passage {collection: $c}) RETURN CASE WHEN size(p.text) > 30 THEN 'long' ELSE 'short' END AS k, count(*)", None),
    ("MATCH (p:Passage {collection: $c}) RETURN substring(p.text, 0, 4) + '...' AS start ORDER BY start SKIP 1 LIMIT 1", 1),
    ("MATCH (p:Passage {collection: $c}) WITH DISTINCT p ORDER BY p.id RETURN count(*)", [[3]]),
    ("MATCH (e:Entity {collection: $c, name: 'Fram'}) RETURN e.name AS n UNION ALL "
     "MATCH (d:Document {collection: $c, title: 'Fram'}) RETURN d.title AS n", [["Fram"], ["Fram"]]),
    ("MATCH (e:Entity {collection: $c}) WHERE e.name IN ['Fram', 'Larvik'] AND NOT e.name = 'Larvik' RETURN e.name", [["Fram"]]),
    ("MATCH (n:Entity|Document {collection: $c}) WHERE n:Entity OR n.title IS NOT NULL RETURN count(n) > 3", [[True]]),
    ("MATCH (n:Entity&!Document {collection: $c}) RETURN count(n) > 0", [[True]]),
    ("MATCH (n:$($label) {collection: $c}) RETURN count(n)", [[3]]),
    ("MATCH (n {collection: $c}) WHERE n[$key] = 'Fram' RETURN count(n) > 0", [[True]]),
    ("MATCH (n:Entity {collection: $c}) RETURN keys(n) AS k, properties(n) AS p LIMIT 1", 1),
    ("RETURN date('2024-02-28') + duration('P2D') AS day, datetime('2024-01-01T00:00:00Z').year AS y", [["2024-03-01", 2024]]),
    ("RETURN duration.between(date('2024-01-01'), date('2024-01-31')).days AS d, date.truncate('month', date('2024-01-31'))",
     [[30, "2024-01-01"]]),
    ("RETURN point.distance(point({x: 0, y: 0}), point({x: 3, y: 4})) AS d", [[5.0]]),
    ("WITH 'SET x; CREATE (n) // DELETE' AS text RETURN text /* MERGE */ // DROP", [["SET x; CREATE (n) // DELETE"]]),
    ("MATCH (n:Entity {collection: $c}) RETURN n.set AS `create`, n.`delete` AS `merge` LIMIT 1", [[None, None]]),
    ("WITH {set: 1, load: 2, use: 3} AS m RETURN m.set + m.load + m.use AS six", [[6]]),
    ("MATCH (start:Entity {collection: $c})--(end:Passage) RETURN count(end) > 0", [[True]]),
    ("MATCH (n:Entity {collection: $c}) USING INDEX n:Entity(collection) RETURN count(n) > 0", [[True]]),
    ("MATCH (t:Triple {collection: $c})-[:SUBJECT]->(s), (t)-[:OBJECT]->(o) RETURN s.name + ' ' + t.predicate + ' ' + o.name AS f "
     "ORDER BY f", [["Colin Archer lived in Larvik"], ["Fram designed by Colin Archer"]]),
    ("MATCH (a:Entity {collection: $c})<-[:MENTIONS]-(p)-[:MENTIONS]->(b:Entity) WHERE a.name < b.name "
     "RETURN a.name, b.name, count(DISTINCT p) AS together ORDER BY together DESC, a.name LIMIT 10", None),
    ("MATCH (p:Passage {collection: $c}) WITH p, [w IN split(toLower(p.text), ' ') WHERE size(w) > 3] AS words "
     "UNWIND words AS word RETURN word, count(*) AS n ORDER BY n DESC, word LIMIT 5", 5),
    ("MATCH (d:Document {collection: $c}) WITH d ORDER BY d.title WITH collect(d) AS ds "
     "UNWIND range(0, size(ds) - 1) AS i RETURN i, ds[i].title AS t", [[0, "Colin Archer"], [1, "Fram"], [2, "Larvik"]]),
    ("RETURN 'Stra\u00dfe \U0001f6a2' AS `\u00fcber`, '\\u00e9' AS e", [["Stra\u00dfe \U0001f6a2", "\u00e9"]]),
    ("RETURN 1\u00a0AS one", [[1]]),
    ("RETURN toInteger('7') * 2 ^ 2 - 10 % 4 / 2.0 AS n, -1 AS m, 0xFF AS h, 1e3 AS f, 1.5 AS g",
     [[27.0, -1, 255, 1000.0, 1.5]]),
    ("MATCH p = SHORTEST 3 (a:Entity {collection: $c, name: 'Fram'})-[:MENTIONS]-{1,}(b:Entity {name: 'Larvik'}) "
     "RETURN count(p) >= 0", [[True]]),
    ("MATCH p = SHORTEST 1 (a:Entity {collection: $c, name: 'Fram'})((x)-[:MENTIONS]-(y)){1,}(b:Entity) RETURN count(p) > 0",
     [[True]]),
    ("MATCH (e:Entity {collection: $c}) WITH e.name AS name, count(*) AS count RETURN sum(count + 1) > 0 AS exists", [[True]]),
    ("MATCH ends = (:Entity {collection: $c})<-[:MENTIONS]-() WITH ends LIMIT 2 RETURN count(ends)", [[2]]),
    ("MATCH (n:Entity {collection: $c}) WHERE n.limit IS NULL AND n.name STARTS WITH 'F' AND n.order IS NULL "
     "RETURN n.name, n.skip AS `limit`", [["Fram", None]]),
    ("CALL db.index.vector.queryNodes('harm_vector', toInteger($k) + 1, $v) YIELD node RETURN count(node)", [[5]]),
    ("CALL db.index.fulltext.queryNodes('harm_text', 'node', {skip: $k, limit: size($names)}) YIELD node RETURN count(*)", [[2]]),
    ("CALL db.index.fulltext.queryNodes('harm_text', 'node', $options) YIELD node, score RETURN count(score)", [[3]]),
    ("MATCH (n) WHERE " + " AND ".join(f"(n.a{i} = {i} OR n.b{i} IS NULL)" for i in range(12)) + " RETURN count(n) > 0", [[True]]),
    ("RETURN CASE WHEN 1 > 2 THEN 'a' WHEN 2 > 3 THEN 'b' ELSE CASE WHEN true THEN 'c' END END AS c", [["c"]]),
    ("MATCH (n:Document|Passage|Page|Table|Entity|Triple|Keyword {collection: $c}) RETURN count(n) > 6", [[True]]),
    ("RETURN [x IN [1, 2, 3] | [y IN [1, 2, 3] | [z IN [1, 2] | x * y * z]]][0][0] AS l", [[[1, 2]]]),
]  # fmt: skip

PARAMETERS: dict[str, Any] = {
    "c": "gateway", "p": "Fr.*", "names": ["Fram", "Nobody"], "label": "Document", "key": "name", "k": 4, "v": [0.5] * 64, "options": {"limit": 3},
}  # fmt: skip
