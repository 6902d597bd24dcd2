// Whether the server answers.
// mode: read
// -> pong: INTEGER - 1
RETURN 1 AS pong
