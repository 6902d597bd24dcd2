// Every Keyword is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT keyword_id IF NOT EXISTS FOR (n:Keyword) REQUIRE n.id IS UNIQUE
