// Note that what the reports of communities rest on has changed.
// mode: write
// $ids: LIST<STRING> - community ids
UNWIND $ids AS id
MATCH (c:Kgrag:Community {id: id})
SET c.stale = true
