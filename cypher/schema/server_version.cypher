// The version of the server, for a report of a measurement.
// mode: schema
// -> version: STRING - its version, as it names it
CALL dbms.components() YIELD name, versions
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version
