// A client generated from /openapi.json: node client.js ADDRESS KEY COLLECTION QUESTION
import createClient from "openapi-fetch";
import type { paths } from "./schema";

async function main(baseUrl: string, key: string, collection: string, question: string): Promise<void> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const params = { path: { collection } };
  const found = await client.POST("/api/v1/collections/{collection}/search", { params, body: { question, k: 2 } });
  if (found.data === undefined) throw new Error(found.error.error);
  const titles: string[] = found.data.hits.map((hit) => hit.passage.title);
  const ask = { question, system: "single+bm25" };
  const answer = await client.POST("/api/v1/collections/{collection}/ask", { params, body: ask });
  if (answer.data === undefined || typeof answer.data === "string") throw new Error("no answer as a whole");
  const kinds = answer.data.trace.map((event) => event.type);
  const refused = await client.POST("/api/v1/cypher", { body: { statement: "CREATE (:A)" } });
  console.log(JSON.stringify({ titles, answer: answer.data.text, kinds, refused: refused.error?.remedy }));
}

const [address = "", key = "", collection = "", question = ""] = process.argv.slice(2);
void main(address, key, collection, question);
