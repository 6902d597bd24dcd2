// Every Entity of a collection by the stems of its name: titles in another inflection.
// mode: schema
CREATE INDEX entity_stemmed IF NOT EXISTS FOR (n:Entity) ON (n.collection, n.stemmed)
