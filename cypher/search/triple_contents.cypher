// What the vector of a triple is made of.
// mode: read
// $ids: LIST<STRING> - triple ids
// -> id: STRING - triple id
// -> text: STRING - subject, predicate and object
UNWIND $ids AS id
MATCH (t:Triple {id: id})
RETURN id, t.text AS text
