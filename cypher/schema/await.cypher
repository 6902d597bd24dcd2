// Wait until every index answers.
// mode: auto
// $seconds: INTEGER = 300 - how long to wait
CALL db.awaitIndexes($seconds)
