// The words of a collection that its texts write small inside sentences, at least as often as with a capital.
// mode: read
// $collection: STRING - name of the collection
// -> stem: STRING - stem of the word
MATCH (w:Word {collection: $collection}) WHERE w.lower > 0 AND w.lower >= w.upper
RETURN w.stem AS stem
