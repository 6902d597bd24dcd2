// The passages that state facts with times, none of which held at a date, as far as the dates are precise.
// mode: read
// $collection: STRING - name of the collection
// $as_of: STRING - a date such as 1912, 1912-03 or 1912-03-07
// -> ids: LIST<STRING> - ids of these passages
MATCH (:Entity {collection: $collection})-[r:!SIMILAR]->(:Entity)
WHERE r.facts IS NOT NULL AND (r.valid_from IS NOT NULL OR r.valid_to IS NOT NULL)
WITH r, (r.valid_from IS NULL OR left(r.valid_from, size($as_of)) <= left($as_of, size(r.valid_from)))
    AND (r.valid_to IS NULL OR left($as_of, size(r.valid_to)) <= left(r.valid_to, size($as_of)))
    AND (r.ended_by IS NULL OR size(r.valid_to) < 10 OR $as_of <> r.valid_to) AS holds
UNWIND r.passages AS id
WITH id, collect(holds) AS holding WHERE NOT any(holds IN holding WHERE holds)
RETURN collect(id) AS ids
