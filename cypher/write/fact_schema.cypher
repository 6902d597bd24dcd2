// Record what a collection's facts are held to, or that it is nothing.
// mode: write
// $collection: STRING - name of the collection
// $schema: STRING - the schema as JSON; empty: none
// $one: LIST<STRING> = [] - predicates with one object of a subject at a time
// $bearer: LIST<STRING> = [] - predicates with one subject of an object at a time
MATCH (c:Kgrag:Collection {id: $collection})
SET c.fact_schema = CASE WHEN $schema <> '' THEN $schema END, c.one_valued = CASE WHEN size($one) > 0 THEN $one END,
    c.one_bearer = CASE WHEN size($bearer) > 0 THEN $bearer END
