// Which words are written with a capital more often than not, inside sentences.
// mode: read
// $ids: LIST<STRING> - word ids
// -> id: STRING - id of a word that is
UNWIND $ids AS id
MATCH (w:Word {id: id}) WHERE w.upper > w.lower
RETURN id
