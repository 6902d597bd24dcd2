// The names of entities as they are written, and the titles of passages.
// mode: read
// $entities: LIST<STRING> - entity ids
// $passages: LIST<STRING> - passage ids
// -> names: LIST<LIST<STRING>> - [id, name]
CALL () {
  UNWIND $entities AS id MATCH (e:Kgrag:Entity {id: id}) RETURN id, e.name AS name
  UNION ALL
  UNWIND $passages AS id MATCH (p:Kgrag:Passage {id: id}) RETURN id, p.name AS name
}
RETURN collect([id, name]) AS names
