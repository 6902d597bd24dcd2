// The texts of a collection with parentheses that may explain an acronym.
// mode: read
// $collection: STRING - name of the collection
// -> text: STRING - text of a passage
MATCH (p:Passage {collection: $collection}) WHERE p.text CONTAINS '('
RETURN p.text AS text
