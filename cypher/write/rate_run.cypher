// Note on a run what somebody thinks of its answer.
// mode: write
// $id: STRING - run id
// $collection: STRING - name of the collection
// $good: BOOLEAN - whether it is good, or null for no opinion
// $remark: STRING - why, or null
// -> id: STRING - run id; no row when the run is not kept
MATCH (r:Kgrag:Run {id: $id}) WHERE r.collection = $collection
SET r.good = $good, r.remark = $remark
RETURN r.id AS id
