// Every passage of a collection, to make questions from.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - passage id
// -> document: STRING - the document's key
// -> title: STRING - title
// -> section: STRING - path of headings, or empty
// -> text: STRING - text
MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal IS NOT NULL
RETURN p.id AS id, d.key AS document, p.title AS title, p.section AS section, p.text AS text
