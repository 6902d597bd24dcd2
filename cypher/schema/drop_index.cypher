// Drop an index if it is there.
// mode: schema
// $index: STRING - name of the index
DROP INDEX $index IF EXISTS
