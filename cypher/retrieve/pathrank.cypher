// PathRank, one hop: from each source passage over the names that it mentions to the passages that these are the title
// of or that mention them too, and back from its own names to those who mention them; every target is scored against
// the rest of the question, without the words that led to its source.
// mode: read
// $sources: LIST<MAP> - {id, rest (its place in $rests), own (entities of its title and headings), own_words (their words), skip (entities that are no bridges), inherited (what its targets' scores are raised by)}
// $rests: LIST<MAP> - {vector, weights (one for each of $terms)} of the rests of the question
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $terms: LIST<MAP> - {stem (between spaces), weight} of the question's words; the weights add up to 1
// $prefixes: LIST<STRING> - the first five letters of the question's longer words
// $passages: INTEGER - passages of the collection
// $word_weight: FLOAT = 0.25 - weight of shared words
// $rarity: FLOAT = 0.5 - weight of a name's rarity
// $near: FLOAT = 0.1 - weight of a question word near the name
// $title: FLOAT = 0.3 - weight of being the name's title
// $in_title: FLOAT = 0.1 - weight of being part of the title
// $rivals: FLOAT = 0.15 - cost of a hop to one of many passages that mention a name, by the log of how many are rivals
// $rival_share: FLOAT = 0.0 - share of a name's passages that count as rivals: the excess over a usual collection
// $about: FLOAT = 0.1 - weight of a triple of the source being about the name
// $apart: BOOLEAN = true - whether names that are known from triples alone are no bridges; else all but $dates are
// $dates: STRING - pattern of names that are only a number or a date
// $cap: INTEGER = 50 - passages that a bridge may have, unless it is a title
// $bridges: INTEGER = 10 - bridges of a source
// $targets: INTEGER = 60 - targets of a source
// $titled: INTEGER = 5 - passages of a document that its title reaches
// $links: LIST<STRING> - entities that the question names
// $same_as: BOOLEAN = true - whether a name leads where the other names of its entity lead
// $next: INTEGER = 0 - best targets that are described, for the next hop
// -> targets: LIST<LIST<ANY>> - [passage, score against the whole question, score by the best way that leads to it, its source, the name of the entity that ties it to that (two names of one: a = b), kind of tie]; kind: 0 it mentions the entity, 1 the entity is its title, 2 it mentions the source's own name
// -> next: LIST<MAP> - the targets best by either score: {id, name, title (of its document), own ({id, weight} of the entities that its document's title or its own headings name), mentioned (those of the question's entities that it mentions)}
UNWIND range(0, size($sources) - 1) AS s
WITH s, $sources[s] AS source
MATCH (a:Kgrag:Passage {id: source.id})
WITH s, source, a, split(trim(a.stems), ' ') AS words
CALL (source, a, words) {
  MATCH (a)-[m:MENTIONS]->(e:Entity)
  WHERE (e.df > 1 OR e.ntit > 0 OR ($same_as AND EXISTS { (e)-[:SAME_AS]-() })) AND (e.df <= $cap OR e.ntit > 0)
    AND NOT e.id IN source.skip AND (e.ntit > 0 OR NOT e.normal IN source.own_words)
    AND (m.via <> 'triple' OR (NOT $apart AND (e.ntit > 0 OR NOT e.normal =~ $dates)))
  WITH a, e, m, size(split(e.normal, ' ')) AS length
  WITH a, e, $rarity * log($passages * 1.0 / CASE WHEN e.df > 0 THEN e.df ELSE 1 END) / log($passages + 1.0)
       + CASE WHEN any(p IN m.positions WHERE any(
           i IN range(CASE WHEN p < 6 THEN 0 ELSE p - 6 END, p + length + 1)
           WHERE (i < p OR i >= p + length) AND left(words[i], 5) IN $prefixes)) THEN $near ELSE 0.0 END
       + CASE WHEN m.stated THEN $about ELSE 0.0 END AS weight
  ORDER BY weight DESC, e.id LIMIT $bridges
  WITH a, e AS named, weight
  CALL (named, source) {
    RETURN named AS e, [named.id, named.name] AS entity, 0.0 AS commoner
    UNION ALL
    MATCH (named)-[:SAME_AS]-(e:Entity) WHERE $same_as AND NOT e.id IN source.skip
    RETURN e, [named.id, named.name + ' = ' + e.name] AS entity, CASE WHEN e.df > named.df AND named.df > 0 THEN $rarity * log(e.df * 1.0 / named.df) / log($passages + 1.0) ELSE 0.0 END AS commoner
  }
  CALL (a, e, source) {
    WITH a, e, $rivals * log(1 + e.df * $rival_share) AS rival WHERE e.df <= $cap
    MATCH (e)<-[m:MENTIONS]-(x:Passage) WHERE x <> a
    RETURN x, false AS is_title, CASE m.via WHEN 'title' THEN $in_title ELSE 0.0 END - rival AS preference
    UNION ALL
    MATCH (e)<-[t:ABOUT]-(n)
    WITH a, source, t, n ORDER BY t.weight DESC, n.id LIMIT $cap
    CALL (n, a, source) {
      WITH n, a WHERE n:Passage AND n <> a
      RETURN n AS x
      UNION ALL
      MATCH (n)-[:HAS_PASSAGE]->(x:Passage) WHERE x <> a AND x[$embedding] IS NOT NULL
      RETURN x ORDER BY CASE WHEN COUNT { (n)-[:HAS_PASSAGE]->() } > $titled THEN vector.similarity.cosine(x[$embedding], $rests[source.rest].vector) ELSE 0.0 END DESC, x.id LIMIT $titled
    }
    RETURN x, true AS is_title, $title * t.weight / (1 + log(CASE WHEN e.ntit > 0 THEN e.ntit ELSE 1 END)) AS preference
  }
  RETURN entity, x, weight - commoner + preference AS bridge, CASE WHEN is_title THEN 1 ELSE 0 END AS kind
  UNION ALL
  UNWIND source.own AS own
  MATCH (named:Kgrag:Entity {id: own})
  CALL (named) {
    RETURN named AS e, named.name AS name
    UNION ALL
    MATCH (named)-[:SAME_AS]-(e:Entity) WHERE $same_as
    RETURN e, named.name + ' = ' + e.name AS name
  }
  WITH a, e, [own, name] AS entity WHERE 0 < e.df <= $cap // it is 0 until the end of an ingest
  WITH a, e, entity, $rarity * log($passages * 1.0 / e.df) / log($passages + 1.0) - $rivals * log(1 + e.df * $rival_share) AS bridge
  MATCH (e)<-[:MENTIONS]-(x:Passage) WHERE x <> a
  RETURN entity, x, bridge, 2 AS kind
}
WITH s, x, max([bridge, entity, kind]) AS best
WITH x, collect([s, $sources[s].rest, best]) AS ways
WITH x.id AS id, ways, x[$embedding] AS embedding, x.stems AS stems
WITH id, ways, embedding, [i IN range(0, size($terms) - 1) WHERE stems CONTAINS $terms[i].stem] AS shared
WITH id, ways, embedding, shared, (2 * vector.similarity.cosine(embedding, $vector) - 1) + $word_weight * reduce(w = 0.0, i IN shared | w + $terms[i].weight) AS base
UNWIND ways AS way
WITH way[0] AS s, id, base, way[2] AS best,
     way[2][0] + (2 * vector.similarity.cosine(embedding, $rests[way[1]].vector) - 1)
       + $word_weight * reduce(w = 0.0, i IN shared | w + $rests[way[1]].weights[i]) AS score
ORDER BY score DESC, id
WHERE score IS NOT NULL // a passage that is being removed may have lost its vector
WITH s, collect([id, base, [score + $sources[s].inherited, $sources[s].id, best[1][1], best[2]]])[0..$targets] AS targets
UNWIND targets AS target
WITH target[0] AS id, target[1] AS base, max(target[2]) AS way
ORDER BY CASE WHEN way[0] > base THEN way[0] ELSE base END DESC, id
WITH collect([id, base] + way) AS targets
CALL (targets) {
  UNWIND targets[0..$next] AS target
  MATCH (d:Document)-[:HAS_PASSAGE]->(x:Kgrag:Passage {id: target[0]})
  RETURN collect({id: x.id, name: x.name, title: x.title,
    own: [(d)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] + [(x)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}],
    mentioned: [(x)-[:MENTIONS]->(e:Kgrag:Entity) WHERE e.id IN $links | e.id]}) AS next
}
RETURN targets, next
