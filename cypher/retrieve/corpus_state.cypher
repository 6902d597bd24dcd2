// A state that changes whenever a document of a collection does.
// mode: read
// $collection: STRING - name of the collection
// -> state: STRING - how many documents there are, and when one was last written
MATCH (d:Document {collection: $collection})
RETURN toString(count(d)) + ' ' + coalesce(toString(max(d.updated)), '') AS state
