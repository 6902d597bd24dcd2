// Each node of kgrag is found by its id, and no two share one. The label is kgrag's own: nodes of others that are called
// Document or Page as well are not in the constraint, and may have any id.
// mode: schema
CREATE CONSTRAINT kgrag_id IF NOT EXISTS FOR (n:Kgrag) REQUIRE n.id IS UNIQUE
