// Jobs, the newest first; not what a program did by itself that has died.
// mode: read
// $id: STRING - of one job, or null for all
// $collections: LIST<STRING> - of these collections, or empty for all
// $state: STRING - in this state, or null for any
// $kind: STRING = null - its kind
// $limit: INTEGER - how many
// -> job: MAP - its properties
MATCH (j:Kgrag:Job)
WHERE ($id IS NULL OR j.id = $id) AND (size($collections) = 0 OR j.collection IN $collections)
  AND ($state IS NULL OR j.state = $state) AND ($kind IS NULL OR j.kind = $kind)
  AND NOT (j.outside IS NOT NULL AND j.lease < datetime())
RETURN properties(j) AS job ORDER BY j.created DESC, j.id LIMIT $limit
