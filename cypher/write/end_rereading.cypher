// Record that the texts of a collection were read again, and what made the stems of their words.
// mode: write
// $name: STRING - name of the collection
// $stemmer: STRING - its name and version
MATCH (c:Collection {name: $name}) SET c.stemmer = $stemmer
