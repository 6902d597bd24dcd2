// Give passages the stems that they are found by; due: their words, mentions and keywords.
// mode: write
// $rows: LIST<MAP> - {id, stems, title_stems, sentences}
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.id})
SET p.stems = row.stems, p.title_stems = row.title_stems, p.sentences = row.sentences,
    p.todo = coalesce(p.todo, []) + [s IN ['words', 'mentions', 'keywords'] WHERE NOT s IN coalesce(p.todo, [])]
