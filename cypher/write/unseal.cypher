// Take back the seal of documents that are about to be removed, so that an interrupted removal is not taken for a document.
// mode: write
// $ids: LIST<STRING> - document ids
UNWIND $ids AS id
MATCH (d:Kgrag:Document {id: id})
REMOVE d.content_hash
