// Record what made the stems of a collection's words.
// mode: write
// $name: STRING - name of the collection
// $stemmer: STRING - its name and version
MATCH (c:Collection {name: $name}) SET c.stemmer = $stemmer
