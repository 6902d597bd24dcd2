// Documents of folders by their keys alone: an older version of kgrag read them, and did not say from which file.
// mode: read
// $collection: STRING - name of the collection
// $prefixes: LIST<STRING> - what the keys in each folder begin with
// -> prefix: STRING - of a folder
// -> key: STRING - key of a document
// -> whole: BOOLEAN - false if its removal or change was interrupted
UNWIND $prefixes AS prefix
MATCH (d:Document {collection: $collection})
WHERE d.key STARTS WITH prefix AND d.file IS NULL
RETURN DISTINCT prefix, d.key AS key, d.content_hash IS NOT NULL AS whole
