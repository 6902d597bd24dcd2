// The indexes of a collection, whether they answer, and how vector indexes shorten numbers.
// mode: read
// $names: LIST<STRING> - names of the indexes
// -> name: STRING - name of an index that exists
// -> state: STRING - ONLINE, POPULATING or FAILED
// -> percent: FLOAT - how much of what there is it holds
// -> quantization: STRING - SCALAR (a byte a number), BINARY (a bit) or NONE; null for other indexes
SHOW INDEXES YIELD name, type, state, populationPercent, options WHERE name IN $names
RETURN name, state, populationPercent AS percent,
       CASE WHEN type = 'VECTOR' THEN coalesce(
         options.indexConfig['vector.quantization.type'],
         CASE options.indexConfig['vector.quantization.enabled'] WHEN true THEN 'SCALAR' ELSE 'NONE' END
       ) END AS quantization
