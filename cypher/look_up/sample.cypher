// Passages spread evenly over a collection, in a fixed order that no document's place decides.
// mode: read
// $collection: STRING - name of the collection
// $number: INTEGER = 20 - how many
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection}) WHERE p.ordinal IS NOT NULL
RETURN p.id AS id ORDER BY right(p.id, 8), id LIMIT $number
