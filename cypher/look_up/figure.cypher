// The hash and the media type of the picture of a figure.
// mode: read
// $collection: STRING - name of the collection
// $id: STRING - id of the figure
// -> sha: STRING - hash of the picture
// -> media_type: STRING - its media type; no row if there is no such figure
MATCH (f:Kgrag:Figure {id: $id}) WHERE f.collection = $collection
RETURN f.sha AS sha, f.media_type AS media_type
