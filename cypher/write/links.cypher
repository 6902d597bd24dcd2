// Have documents link to these others, and to none besides.
// mode: write
// $rows: LIST<MAP> - {id, ends (document ids)}
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
CALL (d, row) {
  MATCH (d)-[l:LINKS_TO]->(other:Document) WHERE NOT other.id IN row.ends DELETE l
}
UNWIND row.ends AS id
MATCH (other:Kgrag:Document {id: id})
MERGE (d)-[:LINKS_TO]->(other)
