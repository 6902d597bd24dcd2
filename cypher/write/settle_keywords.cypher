// Recount keywords, name each as most passages write it (the last of ties by code point), and remove those without passages.
// mode: write
// $ids: LIST<STRING> - keyword ids
UNWIND $ids AS id
MATCH (k:Kgrag:Keyword {id: id})
SET k.df = COUNT { (k)<-[:HAS_KEYWORD|NAMES]-() }
WITH k, COLLECT { MATCH (k)<-[h:HAS_KEYWORD]-() WITH h.text AS text, count(*) AS n RETURN text ORDER BY n DESC, text DESC LIMIT 1 }[0] AS text
SET k.name = coalesce(text, k.name), k.text = coalesce(text, k.text)
WITH k WHERE k.df = 0
DETACH DELETE k
