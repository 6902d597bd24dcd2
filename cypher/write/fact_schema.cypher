// Record what a collection's facts are held to, or that it is nothing.
// mode: write
// $collection: STRING - name of the collection
// $schema: STRING - the schema as JSON; empty: none
// $one: LIST<STRING> = [] - predicates of which a subject has one object at a time
// $bearer: LIST<STRING> = [] - predicates of which an object has one subject at a time
MATCH (c:Kgrag:Collection {id: $collection})
SET c.fact_schema = CASE WHEN $schema <> '' THEN $schema END, c.one_valued = CASE WHEN size($one) > 0 THEN $one END,
    c.one_bearer = CASE WHEN size($bearer) > 0 THEN $bearer END
