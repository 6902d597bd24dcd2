// title: Keywords: that stand together
// Which keywords the passages of a keyword have besides; the weight is high where both stand together more often than
// by chance.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $keyword: STRING = 'arctic' - a keyword; any of its inflections that the graph shows
// $limit: INTEGER = 25 - rows wanted
// -> keyword: STRING - the other keyword
// -> together: INTEGER - passages that have both
// -> passages: INTEGER - passages that have the other one
// -> lift: FLOAT - how many times as often as by chance
// -> path: PATH - keyword, passage, keyword, to be drawn
MATCH (c:Kgrag:Collection {id: $collection})
MATCH (k:Keyword {collection: $collection}) WHERE k.name IN [$keyword, toLower($keyword)] OR k.stem = toLower($keyword)
MATCH path = (k)<-[:HAS_KEYWORD]-(:Passage)-[:HAS_KEYWORD]->(other:Keyword)
WITH c, k, other, collect(path) AS paths
WITH other, paths, toFloat(size(paths)) * c.passages / (k.df * other.df) AS lift
ORDER BY size(paths) DESC, lift DESC, other.name LIMIT toInteger($limit)
RETURN other.name AS keyword, size(paths) AS together, other.df AS passages, round(lift, 1) AS lift, paths[0] AS path
ORDER BY together DESC, lift DESC, keyword
