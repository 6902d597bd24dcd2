// Wait until an index answers.
// mode: auto
// $index: STRING - name of the index
// $seconds: INTEGER = 300 - how long to wait
CALL db.awaitIndex($index, $seconds)
