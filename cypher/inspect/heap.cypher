// The heap of the server, in a cluster of the leader, in bytes.
// mode: schema
// -> used: INTEGER - taken now, garbage included
// -> live: INTEGER - what was left when the garbage of each part was collected last
// -> most: INTEGER - what it may take
CALL dbms.queryJmx('java.lang:name=*,type=MemoryPool') YIELD attributes
WITH attributes WHERE attributes.Type.value = 'HEAP'
WITH sum(attributes.Usage.value.properties.used) AS used, sum(attributes.CollectionUsage.value.properties.used) AS live
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN used, live, attributes.HeapMemoryUsage.value.properties.max AS most
