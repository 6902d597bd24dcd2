// Add to the counts of words. Due: spread, when df passes a power of two (class), since keywords may change; case, when
// a word turns from mostly lower case to mostly capitalised or back, since it may be a name now.
// mode: write
// $rows: LIST<MAP> - {id, stem, n, upper, lower}: n more (or, negative, fewer) passages hold the stem; so many more times it is written with a capital, or without, inside sentences
// $collection: STRING - name of the collection
UNWIND $rows AS row
MERGE (w:Kgrag:Word {id: row.id})
ON CREATE SET w.name = row.stem, w.stem = row.stem, w.collection = $collection, w.df = 0, w.class = -1, w.upper = 0, w.lower = 0
WITH w, row, w.df + row.n AS df, w.upper > w.lower AS was_proper, w.df > 0 AS was_there
WITH w, row, df, was_proper, was_there, CASE WHEN df > 0 THEN toInteger(floor(log(df) / log(2) + 1e-9)) ELSE -1 END AS class
WITH w, row, df, class,
     CASE WHEN class <> w.class AND (class > 0 OR w.class > 0) THEN ['spread'] ELSE [] END
     + CASE WHEN was_there AND was_proper <> (w.upper + row.upper > w.lower + row.lower) THEN ['case'] ELSE [] END AS due
SET w.df = df, w.class = class, w.upper = w.upper + row.upper, w.lower = w.lower + row.lower,
    w.todo = CASE WHEN size(due) = 0 THEN w.todo ELSE coalesce(w.todo, []) + [s IN due WHERE NOT s IN coalesce(w.todo, [])] END
