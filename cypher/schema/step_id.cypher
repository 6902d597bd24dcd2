// Every Step is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT step_id IF NOT EXISTS FOR (n:Step) REQUIRE n.id IS UNIQUE
