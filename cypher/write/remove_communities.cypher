// Remove communities.
// mode: write
// $ids: LIST<STRING> - community ids
// -> removed: INTEGER - how many were removed
UNWIND $ids AS id
MATCH (c:Kgrag:Community {id: id})
DETACH DELETE c
RETURN count(*) AS removed
