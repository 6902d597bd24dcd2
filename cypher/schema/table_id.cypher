// Every Table is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT table_id IF NOT EXISTS FOR (n:Table) REQUIRE n.id IS UNIQUE
