// Add to the document frequencies of words; a word whose df passes a power of two (class) is due: keywords may change.
// mode: write
// $rows: LIST<MAP> - {id, stem, n}: n more (or, negative, fewer) passages hold the stem
// $collection: STRING - name of the collection
UNWIND $rows AS row
MERGE (w:Word {id: row.id})
ON CREATE SET w.name = row.stem, w.stem = row.stem, w.collection = $collection, w.df = 0, w.class = -1
WITH w, w.df + row.n AS df
WITH w, df, CASE WHEN df > 0 THEN toInteger(floor(log(df) / log(2) + 1e-9)) ELSE -1 END AS class
SET w.df = df, w.todo = CASE WHEN class <> w.class AND (class > 0 OR w.class > 0) THEN ['spread'] ELSE w.todo END, w.class = class
