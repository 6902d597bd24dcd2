// The class (power of two) of each word's document frequency.
// mode: read
// $ids: LIST<STRING> - word ids
// -> classes: LIST<INTEGER> - floor(log2(df)) of each, in the order of the ids; -1 for a word that is not there
UNWIND range(0, size($ids) - 1) AS i
OPTIONAL MATCH (w:Kgrag:Word {id: $ids[i]})
WITH i, coalesce(w.class, -1) AS class ORDER BY i
RETURN collect(class) AS classes
