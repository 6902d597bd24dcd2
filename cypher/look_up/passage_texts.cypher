// The words by which indexes find the passages of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - passage id
// -> title: STRING - title
// -> section: STRING - path of headings
// -> text: STRING - text
MATCH (p:Passage {collection: $collection})
RETURN p.id AS id, p.title AS title, coalesce(p.section, '') AS section, p.text AS text
