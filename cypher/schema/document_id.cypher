// Every Document is found by its id, and no two share one.
// mode: schema
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE
