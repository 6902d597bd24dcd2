// Every Passage is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT passage_id IF NOT EXISTS FOR (n:Passage) REQUIRE n.id IS UNIQUE
