// No two collections share a name.
// mode: schema
CREATE CONSTRAINT collection_name IF NOT EXISTS FOR (n:Collection) REQUIRE n.name IS UNIQUE
