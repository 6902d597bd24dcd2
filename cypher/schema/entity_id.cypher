// Every Entity is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE
