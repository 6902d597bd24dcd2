// title: Documents: what changed since a date
// The documents written to the graph since a date, and the answers kept since then, newest first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $since: STRING = '2020-01-01' - a day, or a moment such as 2026-05-31T12:00+02:00
// $limit: INTEGER = 25 - rows wanted
// -> changed: DATETIME - when
// -> kind: STRING - Document or Run
// -> name: STRING - title, or question
// -> source: STRING - where the document was read, or who answered
CALL () {
  MATCH (d:Document {collection: $collection}) WHERE d.updated >= datetime($since)
  RETURN d.updated AS changed, 'Document' AS kind, d AS node
  UNION ALL
  MATCH (r:Run {collection: $collection}) WHERE r.created >= datetime($since)
  RETURN r.created AS changed, 'Run' AS kind, r AS node
}
WITH changed, kind, node ORDER BY changed DESC, node.id LIMIT toInteger($limit)
RETURN changed, kind, node.name AS name, coalesce(node.source, node.system) AS source ORDER BY changed DESC, name
