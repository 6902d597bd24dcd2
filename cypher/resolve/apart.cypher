// Keep that names are of others, so that no language model is asked again.
// mode: write
// $rows: LIST<MAP> - {one (entity id), other}
UNWIND $rows AS row
MATCH (a:Kgrag:Entity {id: row.one}), (b:Kgrag:Entity {id: row.other})
SET a.apart = COLLECT { UNWIND coalesce(a.apart, []) + [b.normal] AS name RETURN DISTINCT name ORDER BY name }
