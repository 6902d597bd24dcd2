// Record which nodes of somebody else's graph a collection is made of.
// mode: write
// $collection: STRING - name of the collection
// $attachment: STRING - labels, properties and relationships as JSON
MATCH (c:Kgrag:Collection {id: $collection})
SET c.attachment = $attachment
