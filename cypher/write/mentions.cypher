// Replace the mentions of passages. Those that TAGME found stay, and become its own where nothing else tells of them.
// The weight of a mention is 1 unless it has one; without positions it has none.
// mode: write
// $rows: LIST<MAP> - {id (of a passage), mentions: [{entity, via, positions, text, stated, about}]}
// -> before: LIST<STRING> - entities that they mentioned before
CALL () {
  UNWIND $rows AS row
  MATCH (:Kgrag:Passage {id: row.id})-[m:MENTIONS]->(e:Entity)
  WITH e, CASE WHEN m.tagme IS NULL THEN [m] ELSE [] END AS gone, CASE WHEN m.tagme IS NULL THEN [] ELSE [m] END AS kept
  FOREACH (m IN gone | DELETE m)
  FOREACH (m IN kept | SET m.via = 'tagme', m.weight = m.tagme, m.positions = m.spots, m.text = null, m.stated = null, m.about = null)
  RETURN collect(DISTINCT e.id) AS before
}
CALL () {
  UNWIND $rows AS row
  MATCH (p:Kgrag:Passage {id: row.id})
  UNWIND row.mentions AS mention
  MATCH (e:Kgrag:Entity {id: mention.entity})
  MERGE (p)-[m:MENTIONS]->(e)
  SET m.via = mention.via, m.positions = coalesce(mention.positions, m.spots), m.text = mention.text, m.weight = null, m.stated = mention.stated, m.about = mention.about
}
RETURN before
