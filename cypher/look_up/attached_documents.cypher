// The keys of the documents of a collection, and the nodes of an attached graph that they were made of.
// mode: read
// $collection: STRING - name of the collection
// -> key: STRING - key
// -> element: STRING - element id of the node; null: the document comes from elsewhere
MATCH (d:Document {collection: $collection})
RETURN d.key AS key, d.meta_element AS element
