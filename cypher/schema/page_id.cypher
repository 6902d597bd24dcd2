// Every Page is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT page_id IF NOT EXISTS FOR (n:Page) REQUIRE n.id IS UNIQUE
