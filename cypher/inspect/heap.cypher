// The heap of the server, in a cluster of the leader, in bytes.
// mode: schema
// -> used: INTEGER - taken now, garbage included
// -> live: INTEGER - bytes left after the last garbage collection of each part
// -> most: INTEGER - its limit in bytes
CALL dbms.queryJmx('java.lang:name=*,type=MemoryPool') YIELD attributes
WITH attributes WHERE attributes.Type.value = 'HEAP'
WITH sum(attributes.Usage.value.properties.used) AS used, sum(attributes.CollectionUsage.value.properties.used) AS live
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN used, live, attributes.HeapMemoryUsage.value.properties.max AS most
