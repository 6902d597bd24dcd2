// Every node of a label is found by its key, and no two share one.
// mode: schema
// label: all
// $index: STRING - name of the constraint
CREATE CONSTRAINT $index IF NOT EXISTS FOR (n:{label}) REQUIRE ({properties}) IS UNIQUE
