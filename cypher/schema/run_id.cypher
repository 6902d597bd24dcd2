// Every Run is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (n:Run) REQUIRE n.id IS UNIQUE
