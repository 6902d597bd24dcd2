// Every Word is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT word_id IF NOT EXISTS FOR (n:Word) REQUIRE n.id IS UNIQUE
