// There is one Schema node, which holds the schema version of the database.
// mode: schema
CREATE CONSTRAINT schema_id IF NOT EXISTS FOR (n:Schema) REQUIRE n.id IS UNIQUE
