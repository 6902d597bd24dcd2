// Record the schema version that a collection was brought to.
// mode: write
// $name: STRING - name of the collection
// $version: INTEGER - schema version
MATCH (c:Collection {name: $name}) SET c.schema_version = $version
