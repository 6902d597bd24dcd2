// The page of a passage or a document: PDF pages or text, its context, and its neighbours in the graph.
import { address, get } from "./api.js";
import { attempt, count, counted, fill, h, icon, kind, loading } from "./dom.js";
import { figures, fileName, marked, original, pageView } from "./sources.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./sources.js").Passage} Passage
 * @typedef {{number: number, caption: string, page: number | null, markdown: string}} Table
 * @typedef {{type: string, outgoing: boolean, label: string, name: string, id: string, total: number}} Edge
 */

const AROUND = {
  MENTIONS: "Names in it", ABOUT: "Names of its title", HAS_KEYWORD: "Keywords", NAMES: "Words", SIMILAR: "Passages like it", NEXT: "Before and after it",
  CONTAINS: "Its page", REFERS_TO: "Figures", STATES: "Facts stated in it", HAS_PASSAGE: "Its document", OF_TABLE: "Its table", RETRIEVED: "Found by kept answers", FOUND: "Found by kept answers",
  CITES: "Cited by kept answers", SUMMARISES: "Topics",
};

/** @param {HTMLElement} view @param {App} app */
export async function show(view, app) {
  const [collection = "", ...rest] = app.path, id = rest.join("/");
  if (location.pathname.startsWith("/document/")) await showDocument(view, app, collection, id);
  else await showPassage(view, app, collection, id);
}

/** @param {HTMLElement} view @param {App} app @param {string} collection @param {string} id */
async function showPassage(view, app, collection, id) {
  const { passage, edges } = /** @type {{passage: Passage, edges: Edge[]}} */ (await get(address(["collections", collection, "passage"], { id, edges: 12 }), app.signal));
  app.title(passage.title);
  /** @type {[number, number]} */
  const part = [Number(app.query.get("start")) || 0, Number(app.query.get("end")) || 0];
  const page = h("div", {});
  fill(view, h("div", { class: "page-body" },
    head(collection, passage.title, passage),
    h("div", { class: "beside" },
      h("div", { class: "col" }, page, h("section", { class: "panel" }, h("h2", {}, "Its text"), marked(passage.text, part), figures(collection, passage.figures))),
      h("section", { class: "panel col", "aria-label": "Its context" }, h("h2", {}, "Its context"), around(edges, collection)))));
  if (passage.page !== null) await draw(page, collection, passage, undefined, part);
}

/** @param {HTMLElement} view @param {App} app @param {string} collection @param {string} key */
async function showDocument(view, app, collection, key) {
  const contents = /** @type {{passages: Passage[], number: number, tables: Table[], figures?: import("./sources.js").Figure[]}} */ (await get(address(["collections", collection, "document"], { key }), app.signal));
  const rows = contents.passages, first = /** @type {Passage} */ (rows[0]); // each document has one
  app.title(first.title || key);
  const page = h("div", {});
  let filter = "";
  const list = h("ol", { class: "found" });
  const draw_ = () => fill(list, rows.filter((row) => row.text.toLowerCase().includes(filter)).slice(0, 300).map((row) => h("li", {},
    h("a", { href: `/passage/${encodeURIComponent(collection)}/${encodeURIComponent(row.id)}` }, row.section || row.title || "Passage", row.page === null ? "" : `, p. ${row.page}`),
    h("p", { class: "text" }, row.text))));
  const search = h("input", { type: "search", placeholder: "Search in this document", "aria-label": "Search in this document" });
  search.addEventListener("input", () => { filter = search.value.toLowerCase(); draw_(); });
  draw_();
  fill(view, h("div", { class: "page-body" }, head(collection, first.title || key, first),
    h("p", { class: "quiet" }, contents.number > rows.length ? `The first ${count(rows.length)} of ${counted(contents.number, "passage")}` : counted(contents.number, "passage")),
    page, contents.tables.length > 0 && h("details", {}, h("summary", {}, counted(contents.tables.length, "table")), contents.tables.map(table)), figures(collection, contents.figures), search, list));
  if (first.page !== null) await draw(page, collection, first, 1);
}

/** @param {string} collection @param {string} title @param {Passage} passage */
function head(collection, title, passage) {
  const to = encodeURIComponent(collection), document = encodeURIComponent(passage.document);
  return h("header", { class: "col" },
    h("p", { class: "small" }, h("a", { href: `/library?collection=${to}` }, collection), " › ", h("a", { href: `/document/${to}/${document}` }, passage.document)),
    h("div", { class: "page-head" }, h("h1", {}, title), h("span", { class: "space" }),
      h("a", { class: "button line", href: `/graph?collection=${to}&passage=${encodeURIComponent(passage.id)}` }, icon("graph"), "In the graph"),
      h("a", { class: "button line", href: `/?collection=${to}` }, icon("ask"), "Ask about this collection"),
      original(collection, passage.document)),
    passage.source && passage.source !== title && h("p", { class: "hint" }, fileName(passage.source)));
}

/** @param {HTMLElement} into @param {string} collection @param {Passage} passage @param {number} [number] @param {[number, number]} [part] the part to mark darker */
async function draw(into, collection, passage, number, part = [0, 0]) {
  fill(into, loading("The page"));
  try {
    const page = await get(address(["collections", collection, "page"], { passage: passage.id, number, start: part[0] || null, end: part[1] || null }));
    fill(into, pageView(page, passage.title, (to) => attempt(() => draw(into, collection, passage, to, part)), part[1] > 0));
  } catch (error) {
    const details = /** @type {{message?: string, remedy?: string}} */ (error);
    fill(into, h("p", { class: "hint" }, `${details.message ?? ""} ${details.remedy ?? ""}`));
  }
}

/** @param {Edge[]} edges @param {string} collection */
function around(edges, collection) {
  /** @type {Map<string, Edge[]>} */
  const kinds = new Map();
  for (const edge of edges) {
    const kind = /** @type {Record<string, string>} */ (AROUND)[edge.type] ?? edge.type;
    kinds.set(kind, [...kinds.get(kind) ?? [], edge]);
  }
  if (kinds.size === 0) return h("p", { class: "quiet" }, "Nothing is linked to it.");
  return h("dl", { class: "around" }, [...kinds].map(([kind, ties]) => [
    h("dt", {}, kind, h("span", { class: "badge" }, count(new Set(ties.map((edge) => edge.id || edge.name)).size + hidden(ties)))),
    h("dd", {}, ties.filter((edge, at) => ties.findIndex((one) => (one.id || one.name) === (edge.id || edge.name)) === at).map((edge) => neighbour(edge, collection)))]).flat());
}

/** The number of edges not listed; `total` counts those of a type and direction. @param {Edge[]} ties */
function hidden(ties) {
  const totals = new Map(ties.map(({ type, outgoing, total }) => [`${type} ${outgoing}`, total]));
  return [...totals.values()].reduce((sum, total) => sum + total, 0) - ties.length;
}

/** @param {Edge} edge @param {string} collection */
function neighbour(edge, collection) {
  const to = encodeURIComponent(collection), name = edge.name || kind(edge.label);
  if (edge.label === "Passage") return h("a", { href: `/passage/${to}/${encodeURIComponent(edge.id)}` }, name);
  if (edge.label === "Entity") return h("a", { href: `/graph?collection=${to}&name=${encodeURIComponent(name)}` }, name);
  return h("span", {}, name);
}

/** A table of a document. @param {Table} entry */
function table(entry) {
  const rows = entry.markdown.split("\n").filter((line) => line.startsWith("|")).map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")));
  const [first = [], , ...others] = rows;
  return h("figure", { class: "table-box" }, h("figcaption", { class: "small strong" }, entry.caption, entry.page === null ? "" : `, p. ${entry.page}`),
    h("table", {}, h("thead", {}, h("tr", {}, first.map((cell) => h("th", {}, cell)))),
      h("tbody", {}, others.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}
