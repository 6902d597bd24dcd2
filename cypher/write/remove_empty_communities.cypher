// Remove the communities of a collection without entities, and the communities above that consist of these alone.
// mode: write
// $collection: STRING - name of the collection
// -> removed: INTEGER - how many were removed
MATCH (c:Community {collection: $collection})
WHERE NOT EXISTS { (c)<-[:PART_OF*0..6]-()<-[:IN_COMMUNITY]-(:Entity) }
DETACH DELETE c
RETURN count(*) AS removed
