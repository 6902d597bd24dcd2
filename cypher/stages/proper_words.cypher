// Which words are written with a capital more often than not, inside sentences.
// mode: read
// $ids: LIST<STRING> - word ids
// -> ids: LIST<STRING> - ids of the proper words
UNWIND $ids AS id
MATCH (w:Kgrag:Word {id: id}) WHERE w.upper > w.lower
RETURN collect(id) AS ids
