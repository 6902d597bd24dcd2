// The documents that a question about pages, tables or sections may mean: documents named in it, documents with a
// heading named in it, then any with such parts that pass a filter. Indexes find them; others are left out.
// mode: read
// $collection: STRING - name of the collection
// $kinds: LIST<STRING> - 'page', 'table', 'section': what the documents may have
// $names: LIST<STRING> - ids of entities: the titles that the question may name
// $files: LIST<STRING> - names of files that the question may name
// $index: STRING - full-text index over the passages
// $phrases: STRING - full-text query for the headings that the question may name; empty: none
// $headings: LIST<STRING> - the same headings, in lower case
// $where: LIST<LIST<ANY>> = [] - [metadata key, values]: the document has one of these texts, numbers or booleans under the key
// $between: LIST<LIST<ANY>> = [] - [metadata key, least, most], the ends both numbers or both texts
// $source: STRING = '' - part of the document's source; empty: any
// $since: DATETIME - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = '' - the same as documents are dated: a day as it stands, a moment with an offset in UTC; empty: of any time
// $reach: INTEGER = 51 - documents of one kind that are looked at
// $limit: INTEGER = 51 - documents at most
// -> id: STRING - document id
// -> key: STRING - its key
// -> title: STRING - its title
// -> source: STRING - its source
// -> pages: INTEGER - how many it has
// -> tables: INTEGER - how many it has
// -> outline: LIST<STRING> - the paths of its headings, in their order; empty unless sections are wanted
CALL () {
  UNWIND $names AS id
  MATCH (:Kgrag:Entity {id: id})<-[:ABOUT]-(d:Document)
  RETURN d, 0 AS rank LIMIT toInteger($reach)
  UNION
  UNWIND $files AS file
  MATCH (d:Document) WHERE d.key ENDS WITH file AND d.collection = $collection
  RETURN d, 0 AS rank LIMIT toInteger($reach)
  UNION
  UNWIND [phrases IN [$phrases] WHERE phrases <> ''] AS phrases
  CALL db.index.fulltext.queryNodes($index, phrases, {limit: 500}) YIELD node
  MATCH (d:Document)-[:HAS_PASSAGE]->(node)
  WITH DISTINCT d WHERE any(path IN split(toLower(d.outline), '\n') WHERE any(heading IN $headings WHERE path ENDS WITH heading))
  RETURN d, 1 AS rank LIMIT toInteger($reach)
  UNION
  UNWIND [kind IN $kinds WHERE kind = 'page'] AS kind
  MATCH (:Page {collection: $collection})<-[:HAS_PAGE]-(d:Document)
  RETURN DISTINCT d, 2 AS rank LIMIT toInteger($reach)
  UNION
  UNWIND [kind IN $kinds WHERE kind = 'table'] AS kind
  MATCH (:Table {collection: $collection})<-[:HAS_TABLE]-(d:Document)
  RETURN DISTINCT d, 2 AS rank LIMIT toInteger($reach)
  UNION
  UNWIND [kind IN $kinds WHERE kind = 'section'] AS kind
  MATCH (d:Document {collection: $collection})
  WITH d LIMIT 1000
  WITH d WHERE d.outline IS NOT NULL
  RETURN d, 2 AS rank LIMIT toInteger($reach)
}
WITH d, min(rank) AS rank
WITH d, rank, COUNT { (d)-[:HAS_PAGE]->() } AS pages, COUNT { (d)-[:HAS_TABLE]->() } AS tables
WHERE (pages + tables > 0 OR ('section' IN $kinds AND d.outline IS NOT NULL))
  AND all(one IN $where WHERE any(value IN [] + d['meta_' + one[0]] WHERE value IN one[1]))
  AND all(one IN $between WHERE any(value IN [] + d['meta_' + one[0]] WHERE one[1] <=
    CASE WHEN one[1] IS :: FLOAT NOT NULL THEN toFloatOrNull(CASE WHEN toString(value) =~ '\\d{4}-\\d\\d.*' THEN left(toString(value), 4) ELSE toString(value) END) ELSE toString(value) END <= one[2]))
  AND ($source = '' OR d.source CONTAINS $source)
  AND ($day = '' OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
WITH d, pages, tables ORDER BY rank, d.key LIMIT toInteger($limit)
RETURN d.id AS id, d.key AS key, d.title AS title, d.source AS source, pages, tables,
       CASE WHEN 'section' IN $kinds THEN split(coalesce(d.outline, ''), '\n') ELSE [] END AS outline
