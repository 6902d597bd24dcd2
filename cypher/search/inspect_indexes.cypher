// The indexes of a collection, and whether they answer.
// mode: read
// $names: LIST<STRING> - names of the indexes
// -> name: STRING - name of an index that exists
// -> state: STRING - ONLINE, POPULATING or FAILED
// -> percent: FLOAT - how much of what there is it holds
SHOW INDEXES YIELD name, state, populationPercent WHERE name IN $names
RETURN name, state, populationPercent AS percent
