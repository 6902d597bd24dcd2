// Record that the texts of a collection were read again, and what made the stems of their words.
// mode: write
// $name: STRING - name of the collection
// $stemmer: STRING - its name and version
MATCH (c:Kgrag:Collection {id: $name}) SET c.stemmer = $stemmer
