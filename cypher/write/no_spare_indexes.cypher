// Keep no empty indexes for new collections any longer.
// mode: write
// -> numbers: LIST<INTEGER> - the numbers in the names of the spare indexes
MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
WITH s, [x IN coalesce(s.spare_indexes, []) | toInteger(split(x, ' ')[1])] AS numbers
SET s.spare_indexes = []
RETURN numbers
