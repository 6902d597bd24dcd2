// Every Triple is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT triple_id IF NOT EXISTS FOR (n:Triple) REQUIRE n.id IS UNIQUE
