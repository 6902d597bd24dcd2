// Recount keywords and remove those that no passage has.
// mode: write
// $ids: LIST<STRING> - keyword ids
UNWIND $ids AS id
MATCH (k:Keyword {id: id})
SET k.df = COUNT { (k)<-[:HAS_KEYWORD|NAMES]-() }
WITH k WHERE k.df = 0
DETACH DELETE k
