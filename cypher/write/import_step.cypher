// Note that more nodes and edges of an import are in, within the transaction that writes them.
// mode: write
// $name: STRING - name of the collection
// $export: STRING - id of the export that it comes from
// $before: INTEGER - how many were in until now
// $after: INTEGER - how many are in afterwards
// -> number: INTEGER - number of the collection; no row: somebody else wrote them
MATCH (c:Kgrag:Collection {id: $name})
SET c.name = $name
WITH c WHERE c.importing = $export AND c.imported = $before
SET c.imported = $after
RETURN c.number AS number
