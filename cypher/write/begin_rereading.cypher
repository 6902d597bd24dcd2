// Record the language of a collection, and that its texts are to be read again in it.
// mode: write
// $name: STRING - name of the collection
// $language: STRING - ISO 639-1 code
// $settings: STRING - how its documents are cut and linked, as JSON, with that language
// $rereading: BOOLEAN - whether the texts were read in another one
MATCH (c:Kgrag:Collection {id: $name})
SET c.language = $language, c.settings = $settings, c.stemmer = CASE WHEN $rereading THEN '' ELSE c.stemmer END
