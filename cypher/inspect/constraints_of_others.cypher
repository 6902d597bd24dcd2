// Constraints of somebody else's on labels of kgrag that nodes of kgrag would break: all but those on the id alone, which is a hash.
// mode: read
// $labels: LIST<STRING> - kgrag's labels
// -> name: STRING - name of the constraint
// -> label: STRING - label
// -> properties: LIST<STRING> - properties
SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties, entityType
WHERE entityType = 'NODE' AND labelsOrTypes[0] IN $labels AND properties <> ['id']
RETURN name, labelsOrTypes[0] AS label, properties ORDER BY name
