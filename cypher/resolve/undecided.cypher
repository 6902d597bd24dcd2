// Forget that names are of others: whether they are one entity's is asked again.
// mode: write
// $rows: LIST<MAP> - {one (entity id), other}
UNWIND $rows AS row
MATCH (a:Kgrag:Entity {id: row.one}), (b:Kgrag:Entity {id: row.other})
FOREACH (pair IN [{node: a, other: b}, {node: b, other: a}] |
  SET (pair.node).apart = [name IN coalesce(pair.node.apart, []) WHERE name <> pair.other.normal])
