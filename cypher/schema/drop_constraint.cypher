// Drop a constraint if it is there: schema 14 had one on each label of its own, where nodes of others may stand.
// mode: schema
// $index: STRING - name of the constraint
DROP CONSTRAINT $index IF EXISTS
