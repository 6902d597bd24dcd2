// title: Collections: their settings
// Every collection with its embedder, its size and its settings.
// mode: read
// scan: a database has few collections
// -> name: STRING - its name
// -> passages: INTEGER - passages
// -> embedder: STRING - what makes its vectors
// -> dimension: INTEGER - their length
// -> density: FLOAT - share of its passages that mention two names or more that lead on
// -> created: DATETIME - when it was made
// -> settings: STRING - how it is indexed, as JSON
MATCH (c:Kgrag:Collection)
RETURN c.name AS name, c.passages AS passages, c.embedder AS embedder, c.dimension AS dimension,
       c.density AS density, c.created AS created, c.settings AS settings
ORDER BY name
