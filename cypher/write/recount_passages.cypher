// Give passages the stems that they are found by; due: their words, mentions and keywords.
// mode: write
// $rows: LIST<MAP> - {id, stems, heads}
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
SET p.stems = row.stems, p.heads = row.heads,
    p.todo = coalesce(p.todo, []) + [s IN ['words', 'mentions', 'keywords'] WHERE NOT s IN coalesce(p.todo, [])]
