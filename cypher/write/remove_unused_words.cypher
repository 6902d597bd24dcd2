// Remove words that no passage holds any more.
// mode: write
// $ids: LIST<STRING> - word ids
UNWIND $ids AS id
MATCH (w:Kgrag:Word {id: id}) WHERE w.df <= 0
DELETE w
