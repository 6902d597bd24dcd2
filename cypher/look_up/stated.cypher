// The triples of a collection as they are written.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - triple id
// -> subject: STRING - its subject
// -> object: STRING - its object
MATCH (t:Triple {collection: $collection})
RETURN t.id AS id, t.subject AS subject, t.object AS object
