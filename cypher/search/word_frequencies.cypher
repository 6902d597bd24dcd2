// The class (power of two) of each word's document frequency.
// mode: read
// $ids: LIST<STRING> - word ids
// -> id: STRING - word id
// -> class: INTEGER - floor(log2(df))
UNWIND $ids AS id
MATCH (w:Word {id: id})
RETURN id, w.class AS class
