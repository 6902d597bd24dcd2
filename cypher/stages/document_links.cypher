// The documents of a collection with the links in their metadata, and the documents that they link to in the graph.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - document id
// -> key: STRING - its key
// -> title: STRING - its title
// -> links: ANY - names and paths, mostly a list of texts; null where it has none
// -> ends: LIST<STRING> - ids of the documents that its edges lead to
MATCH (d:Document {collection: $collection})
RETURN d.id AS id, d.key AS key, d.title AS title, d.meta_links AS links,
       COLLECT { MATCH (d)-[:LINKS_TO]->(other:Document) RETURN other.id } AS ends
