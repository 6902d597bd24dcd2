// Wait until indexes answer.
// mode: auto
// $indexes: LIST<STRING> - their names
// $seconds: INTEGER = 300 - how long to wait for each
UNWIND $indexes AS index
CALL db.awaitIndex(index, $seconds)
FINISH
