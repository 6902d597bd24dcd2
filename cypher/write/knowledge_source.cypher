// Note that a file was imported into a collection of facts.
// mode: write
// $name: STRING - name of the collection
// $source: STRING - fingerprint of the file
MATCH (c:Kgrag:Collection {id: $name})
SET c.sources = [x IN coalesce(c.sources, []) WHERE x <> $source] + [$source]
