// A collection that a transaction writes for, locked until it commits: its removal, which marks it first, waits for that.
// mode: write
// $name: STRING - name of the collection
// -> element: STRING - what the server calls it
// -> number: INTEGER - the number of its indexes
// -> created: DATETIME - when it was made
// -> removing: BOOLEAN - whether it is being removed
MATCH (c:Kgrag:Collection {id: $name})
SET c.number = c.number
RETURN elementId(c) AS element, c.number AS number, c.created AS created, coalesce(c.removing, false) AS removing
