// Give runs that were kept by an older version their question, which their name was.
// mode: write
MATCH (r:Run) WHERE r.question IS NULL
SET r.question = r.name
