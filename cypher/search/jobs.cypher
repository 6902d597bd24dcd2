// Jobs, the newest first.
// mode: read
// $id: STRING - of one job, or null for all
// $collections: LIST<STRING> - of these collections, or empty for all
// $state: STRING - in this state, or null for any
// $limit: INTEGER - how many
// -> job: MAP - its properties
MATCH (j:Job)
WHERE ($id IS NULL OR j.id = $id) AND (size($collections) = 0 OR j.collection IN $collections)
  AND ($state IS NULL OR j.state = $state)
RETURN properties(j) AS job ORDER BY j.created DESC, j.id LIMIT $limit
