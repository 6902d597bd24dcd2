// Add aliases and Wikipedia articles to entities; of several articles, the alphabetically first is kept.
// mode: write
// $rows: LIST<MAP> - {id, aliases, wikipedia (or null)}, sorted by id
UNWIND $rows AS row
MATCH (e:Kgrag:Entity {id: row.id})
WITH e, row, COLLECT { UNWIND coalesce(e.aliases, []) + row.aliases AS alias RETURN DISTINCT alias ORDER BY alias } AS aliases
SET e.aliases = CASE WHEN size(aliases) > 0 THEN aliases END,
    e.wikipedia = CASE WHEN row.wikipedia IS NULL OR e.wikipedia <= row.wikipedia THEN e.wikipedia ELSE row.wikipedia END
