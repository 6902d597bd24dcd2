// The saved queries of the Lab: a form for each, its rows as a table, and a drawing where they hold nodes.
import { address, call, get } from "./api.js";
import { attempt, button, counted, empty, field, fill, h, icon, loading, say, when } from "./dom.js";
import { GraphView } from "./drawing.js";

/**
 * @typedef {import("./lab.js").Lab} Lab
 * @typedef {import("./drawing.js").Drawing} Drawing
 * @typedef {import("./drawing.js").DrawnNode} DrawnNode
 * @typedef {{name: string, type: string, default: string | null, meaning: string}} Parameter
 * @typedef {{name: string, purpose: string, parameters: Parameter[], of_a_collection: boolean}} Query
 * @typedef {Record<string, unknown>} Row
 * @typedef {{columns: string[], rows: Row[], seconds: number, cut: string | null, notes: string[]}} Rows
 * @typedef {{element: string, labels: string[], properties: Row}} Node
 * @typedef {{type: string, start: string, end: string}} Edge
 */

const LONG = 180; // characters of a cell that are shown at once
const EDGES = 40; // that an expanded node brings
const SUGGESTIONS = 8, PAUSE = 150; // milliseconds after a key before names are asked for
const HEIGHT = "min(30rem, 65vh)";
const NAMES = ["entity", "other", "name"], DOCUMENTS = ["document"];
/** What a query is about, by the first of its parameters that is one of these. @type {[string, string[]][]} */
const GROUPS = [
  ["About a name", [...NAMES, "starting"]],
  ["About a document", DOCUMENTS],
  ["About words", ["query", "fact", "keyword", "content", "predicate"]],
  ["About kept answers", ["run"]],
];
const BEGIN = ["map", "hubs", "connection", "missing_documents"]; // that are offered to begin with
const REST = "About the collection", ALL = "About the whole database";

/** @param {HTMLElement} box @param {Lab} lab */
export async function showQueries(box, lab) {
  await lab.wait(box, async () => {
    const { queries } = await get(address(["queries"]), lab.app.signal);
    new Queries(box, lab, queries);
  }, "Loading the queries");
}

class Queries {
  /** @param {HTMLElement} box @param {Lab} lab @param {Query[]} all */
  constructor(box, lab, all) {
    this.lab = lab;
    this.all = all;
    this.open = "";
    /** @type {Promise<[string, string]> | null} */
    this.names = null;
    this.filter = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the queries" });
    this.filter.addEventListener("input", () => this.list());
    this.links = h("nav", { class: "lab-links", "aria-label": "Saved queries" });
    this.query = h("article", { class: "lab-query" });
    this.parts = h("div", { class: "lab-queries" }, h("div", { class: "lab-index" }, this.filter, this.links), this.query);
    fill(box, this.parts);
    const id = lab.app.query.get("query"), match = all.find(({ name }) => name === id);
    if (match) void this.show(match, lab.app.query);
    else this.close();
    if (id && !match) say(`There is no saved query ${id}.`, { error: true });
  }

  list() {
    const part = this.filter.value.trim().toLowerCase();
    const fits = this.all.filter(({ name, purpose }) => `${title(name)} ${purpose}`.toLowerCase().includes(part));
    const groups = [...GROUPS.map(([name]) => name), REST, ALL]
      .map((name) => ({ name, queries: fits.filter((query) => groupOf(query) === name) }));
    fill(this.links, fits.length === 0 && h("p", { class: "quiet" }, "No query is like that."),
      groups.filter(({ queries }) => queries.length > 0).map(({ name, queries }) =>
        h("section", {}, h("h2", {}, name), h("ul", {}, queries.map((query) => h("li", {}, this.link(query)))))));
  }

  /** @param {Query} query */
  link(query) {
    const link = h("a", { href: this.lab.link({ query: query.name }), "aria-current": query.name === this.open && "true" },
      h("span", { class: "strong" }, title(query.name)), h("span", { class: "hint" }, query.purpose));
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void attempt(() => this.choose(query));
    });
    return link;
  }

  /** @param {Query} query */
  async choose(query) {
    this.lab.seek({ query: query.name });
    await this.show(query, new URLSearchParams());
  }

  /** Show the list alone. */
  close() {
    this.open = "";
    this.parts.classList.remove("open");
    this.list();
    const begin = this.all.filter(({ name }) => BEGIN.includes(name));
    fill(this.query, empty("Choose a query",
      "Each looks at the graph in another way: what is mentioned most, what connects two names, what is missing.",
      ...begin.map((query) => button({ title: title(query.name), kind: "line", onclick: () => this.choose(query) }))));
  }

  /** Open a query with what the address gives for its parameters. @param {Query} query @param {URLSearchParams} texts */
  async show(query, texts) {
    this.open = query.name;
    this.parts.classList.add("open");
    this.list();
    this.lab.app.title(`${title(query.name)} · Lab`);
    const back = button({ title: "All queries", icon: "left", onclick: () => { this.lab.seek({}); this.close(); } });
    const form = h("div", {}), result = h("div", { class: "col" });
    fill(this.query, h("div", { class: "lab-back lab-return" }, back), h("h2", {}, title(query.name)),
      h("p", { class: "text" }, query.purpose), form, result);
    if (matchMedia("(max-width: 860px)").matches) this.query.scrollIntoView({ block: "nearest" });
    await this.lab.wait(form, async () => {
      const values = await Promise.all(query.parameters.map(async (parameter) => texts.get(`p_${parameter.name}`) ?? await this.example(parameter)));
      if (this.open !== query.name) return;
      const run = this.form(form, query, values, result);
      if (texts.get("run") || query.parameters.length === 0) await run();
    });
  }

  /**
   * The form of a query; returns what runs it.
   * @param {HTMLElement} into
   * @param {Query} query
   * @param {string[]} values
   * @param {HTMLElement} result
   */
  form(into, query, values, result) {
    const controls = query.parameters.map((parameter, place) => control(parameter, values[place] ?? "", this.lab));
    const start = button({ title: "Run", icon: "play", kind: "main", type: "submit" });
    const run = async () => {
      const inputs = controls.map(({ input }) => input.value.trim());
      const state = Object.fromEntries(query.parameters.map(({ name }, place) => [`p_${name}`, inputs[place] ?? ""]));
      this.lab.seek({ query: query.name, ...state, run: "1" });
      start.disabled = true;
      await this.lab.wait(result, () => this.run(query, parameters(query, inputs), result), "Running");
      start.disabled = false;
    };
    const fields = h("div", { class: "lab-fields" }, controls.map(({ element }) => element));
    const form = h("form", { class: "panel col" }, controls.length > 0 && fields, h("div", { class: "row" }, start));
    form.addEventListener("submit", (event) => { event.preventDefault(); void attempt(run); });
    fill(into, form);
    return run;
  }

  /** @param {Query} query @param {Row} values @param {HTMLElement} into */
  async run(query, values, into) {
    const { app } = this.lab, of = query.of_a_collection ? ["collections", app.collection] : [];
    const to = address([...of, "queries", query.name]);
    /** @type {Rows} */
    const rows = await call("POST", to, { parameters: values }, app.signal);
    const notes = [rows.cut, ...rows.notes ?? []].filter(Boolean);
    if (rows.rows.length === 0) {
      const text = "The query ran, and there is nothing of the kind. Other values may find something.";
      fill(into, empty("Nothing was found", text), notes.map((note) => h("p", { class: "hint" }, note)));
      return;
    }
    const picture = h("div", {}), table = new Table(rows, this.lab);
    const summary = `${counted(rows.rows.length, "row")} in ${rows.seconds.toFixed(2)} s`;
    fill(into, h("div", { class: "row" }, h("p", { class: "quiet grow", role: "status" }, summary),
      button({ title: "Download CSV", icon: "download", kind: "line", onclick: () => save(csv(rows), `${query.name}.csv`) })),
    notes.map((note) => h("p", { class: "row small" }, icon("warn"), note)), picture, table.element);
    if (query.of_a_collection && rows.rows.some((row) => Object.values(row).some(drawable))) {
      fill(picture, loading("Drawing"));
      fill(picture, await drawing(this.lab, query.name, values).catch(() => null));
    }
  }

  /** What stands in a field at first: where the default is a word of the demo, one of this collection. @param {Parameter} parameter */
  async example(parameter) {
    const usual = unquoted(parameter.default);
    if (parameter.type !== "STRING" || usual === "" || parameter.name === "since") return usual;
    return await this.exampleOf(parameter.name).catch(() => "");
  }

  /** @param {string} name @returns {Promise<string>} */
  async exampleOf(name) {
    const { app } = this.lab;
    if (DOCUMENTS.includes(name)) {
      const { documents } = await get(address(["collections", app.collection, "documents"], { limit: 1 }), app.signal);
      return documents[0]?.title ?? "";
    }
    if (name === "key" || name === "value") {
      const [entry] = await this.rows("metadata", {});
      const [value] = /** @type {unknown[]} */ (entry?.["values"] ?? []);
      return String((name === "key" ? entry?.["key"] : value) ?? "");
    }
    if (name === "keyword") return "";
    const [one, other] = await (this.names ??= this.pair());
    return name.startsWith("other") ? other : one;
  }

  /** Two names that stand together, or else those that most passages mention. @returns {Promise<[string, string]>} */
  async pair() {
    const [tie] = await this.rows("map", { limit: 1 });
    if (tie) return [String(tie["name"]), String(tie["other"])];
    const [one, other] = await this.rows("hubs", { limit: 2 });
    return [String(one?.["name"] ?? ""), String(other?.["name"] ?? "")];
  }

  /** @param {string} query @param {Row} values @returns {Promise<Row[]>} */
  async rows(query, values) {
    const { app } = this.lab;
    return (await call("POST", address(["collections", app.collection, "queries", query]), { parameters: values }, app.signal)).rows;
  }
}

/** @param {string} name */
const title = (name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");

/** @param {Query} query */
function groupOf(query) {
  if (!query.of_a_collection) return ALL;
  return GROUPS.find(([, names]) => query.parameters.some(({ name }) => names.includes(name)))?.[0] ?? REST;
}

/** A default as it is typed; it comes as Cypher has it. @param {string | null} cypher */
function unquoted(cypher) {
  return cypher?.startsWith("'") ? cypher.slice(1, -1).replace(/\\(.)/g, "$1") : cypher ?? "";
}

/** What is written, as the types of the parameters have it. @param {Query} query @param {string[]} texts */
function parameters(query, texts) {
  const text = (/** @type {Parameter} */ parameter) => ["STRING", "DATETIME"].includes(parameter.type);
  return Object.fromEntries(query.parameters.flatMap((parameter, place) => {
    const value = texts[place] ?? "";
    return text(parameter) ? [[parameter.name, value]] : value === "" ? [] : [[parameter.name, JSON.parse(value)]];
  }));
}

let lists = 0;

/** A field of the form; names and documents are suggested. @param {Parameter} parameter @param {string} value @param {Lab} lab */
function control(parameter, value, lab) {
  const number = parameter.type === "INTEGER" || parameter.type === "FLOAT";
  const input = h("input", { type: number ? "number" : "text", value, autocomplete: "off",
    step: parameter.type === "FLOAT" ? "any" : "1", required: parameter.type === "STRING" && unquoted(parameter.default) !== "" });
  const element = field(title(parameter.name), input, parameter.meaning);
  element.classList.toggle("lab-number", number);
  const suggest = NAMES.includes(parameter.name) ? suggestNames : DOCUMENTS.includes(parameter.name) ? suggestDocuments : null;
  if (suggest) {
    const list = h("datalist", { id: `lab-list-${++lists}` });
    let timer = 0;
    input.setAttribute("list", list.id);
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(async () => {
        const options = await suggest(lab, input.value.trim()).catch(() => []);
        fill(list, options.map((option) => h("option", { value: option })));
      }, PAUSE);
    });
    element.append(list);
  }
  return { input, element };
}

/** @param {Lab} lab @param {string} text @returns {Promise<string[]>} */
async function suggestNames({ app }, text) {
  const { names } = await get(address(["collections", app.collection, "names"], { q: text, limit: SUGGESTIONS }), app.signal);
  return names.map((/** @type {{name: string}} */ entry) => entry.name);
}

/** @param {Lab} lab @param {string} text @returns {Promise<string[]>} */
async function suggestDocuments({ app }, text) {
  const { documents } = await get(address(["collections", app.collection, "documents"], { search: text, limit: SUGGESTIONS }), app.signal);
  return documents.map((/** @type {{title: string, key: string}} */ entry) => entry.title || entry.key);
}

// ------------------------------------------------------------------------------------------------------------- the table

/** Rows that are sorted by a click on the name of a column, by another one the other way round. */
class Table {
  /** @param {Rows} rows @param {Lab} lab */
  constructor(rows, lab) {
    this.found = rows;
    this.lab = lab;
    this.by = "";
    this.down = false;
    const isNumber = (/** @type {unknown} */ value) => value === null || typeof value === "number";
    this.numbers = new Set(rows.columns.filter((column) => rows.rows.every((row) => isNumber(row[column]))));
    this.heads = rows.columns.map((column) => this.head(column));
    this.body = h("tbody", {});
    this.element = h("div", { class: "table-box lab-rows", tabindex: 0, role: "region", "aria-label": "Rows" },
      h("table", {}, h("thead", {}, h("tr", {}, this.heads)), this.body));
    this.draw(rows.rows);
  }

  /** @param {string} column */
  head(column) {
    const sort = h("button", { type: "button", class: "lab-sort" }, title(column), icon("down"));
    sort.addEventListener("click", () => this.sort(column));
    return h("th", { class: this.numbers.has(column) && "number", scope: "col", "data-column": column }, sort);
  }

  /** @param {string} column */
  sort(column) {
    this.down = this.by === column ? !this.down : this.numbers.has(column);
    this.by = column;
    for (const head of this.heads) {
      if (head.dataset["column"] === column) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    this.draw([...this.found.rows].sort((one, other) => compared(one[column], other[column], this.down)));
  }

  /** @param {Row[]} rows */
  draw(rows) {
    fill(this.body, rows.map((row) => h("tr", {}, this.found.columns.map((column) =>
      h("td", { class: this.numbers.has(column) && "number" }, this.cell(row[column]))))));
  }

  /** @param {unknown} value @returns {HTMLElement} */
  cell(value) {
    const to = isNode(value) ? linkTo(value, this.lab.app.collection) : "", text = inWords(value);
    if (to) return h("a", { href: to }, caption(/** @type {Node} */ (value)));
    if (typeof value === "string" && moment(value)) return h("time", { dateTime: value, title: value, class: "nowrap" }, when(value));
    return text.length > LONG ? long(text) : h("span", { class: "text" }, text);
  }
}

/** Empty values come last, whichever way. @param {unknown} one @param {unknown} other @param {boolean} down */
function compared(one, other, down) {
  const nothing = Number(one === null || one === undefined) - Number(other === null || other === undefined);
  if (nothing !== 0) return nothing;
  const numbers = typeof one === "number" && typeof other === "number";
  const order = numbers ? one - other : inWords(one).localeCompare(inWords(other), "en", { numeric: true });
  return down ? -order : order;
}

/** A long text, cut until all of it is wanted. @param {string} text */
function long(text) {
  const label = h("span", { class: "text" }), turn = h("button", { type: "button", class: "lab-all", "aria-expanded": "false" });
  const draw = (/** @type {boolean} */ all) => {
    fill(label, all ? text : `${text.slice(0, LONG).trimEnd()} …`);
    fill(turn, all ? "Less" : "All");
    turn.setAttribute("aria-expanded", String(all));
  };
  turn.addEventListener("click", () => draw(turn.getAttribute("aria-expanded") === "false"));
  draw(false);
  return h("div", { class: "lab-long" }, label, " ", turn);
}

/** @param {string} text */
const moment = (text) => /^\d{4}-\d\d-\d\dT\d\d:/.test(text) && !Number.isNaN(Date.parse(text));

/** @param {unknown} value @returns {value is Node} */
const isNode = (value) => typeof value === "object" && value !== null && "labels" in value && "element" in value;

/** @param {unknown} value @returns {value is {nodes: Node[], edges: Edge[]}} */
const isPath = (value) => typeof value === "object" && value !== null && "nodes" in value && "edges" in value;

/** Whether there is something of it to be drawn. @param {unknown} value @returns {boolean} */
const drawable = (value) => isNode(value) || isPath(value) || (Array.isArray(value) && value.some(drawable));

/** @param {Node} node */
const caption = ({ properties, labels }) => String(properties["name"] ?? properties["title"] ?? labels[0] ?? "");

/** Where a node is looked at. @param {Node} node @param {string} collection */
function linkTo({ labels, properties }, collection) {
  const to = encodeURIComponent(collection), id = encodeURIComponent(String(properties["id"] ?? ""));
  if (labels.includes("Entity")) return `/graph?collection=${to}&name=${encodeURIComponent(String(properties["name"]))}`;
  if (labels.includes("Passage")) return `/passage/${to}/${id}`;
  return labels.includes("Document") ? `/document/${to}/${encodeURIComponent(String(properties["key"]))}` : "";
}

/** A value as a text: nodes by their names, paths as Cypher draws them. @param {unknown} value @returns {string} */
function inWords(value) {
  if (value === null || value === undefined) return "";
  if (isNode(value)) return `(${caption(value)})`;
  if (isPath(value)) return pathInWords(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== "object" || drawable(one))) return value.map(inWords).join("; ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {{nodes: Node[], edges: Edge[]}} path */
function pathInWords({ nodes, edges }) {
  return nodes.map((node, place) => {
    const edge = edges[place];
    if (!edge) return inWords(node);
    return inWords(node) + (edge.start === node.element ? ` –${edge.type}→ ` : ` ←${edge.type}– `);
  }).join("");
}

/** @param {Rows} rows */
function csv(rows) {
  const lines = [rows.columns, ...rows.rows.map((row) => rows.columns.map((column) => row[column]))];
  return lines.map((line) => line.map(csvCell).join(",")).join("\r\n");
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. @param {unknown} value */
function csvCell(value) {
  const text = inWords(value), safe = typeof value !== "number" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {string} text @param {string} name of the file */
function save(text, name) {
  const link = h("a", { href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ----------------------------------------------------------------------------------------------------------- the drawing

/**
 * What a saved query finds, drawn. Raises ApiError where that is no node.
 * @param {Lab} lab
 * @param {string} query
 * @param {Row} values
 */
export async function drawing(lab, query, values) {
  const { app } = lab, of = ["collections", app.collection, "drawings"];
  const load = (/** @type {string} */ name, /** @type {Row} */ row) =>
    call("POST", address([...of, "queries", name]), { parameters: row }, app.signal);
  /** @param {DrawnNode} node @returns {Promise<Drawing>} */
  const expand = async (node) => {
    const id = String(node.properties["id"] ?? node.id);
    if (node.label === "Passage") return await get(address([...of, "passage"], { id, edges: 10 }), app.signal);
    return node.label === "Entity" ? await load("around", { entity: String(node.properties["name"] ?? node.caption), edges: EDGES })
      : await load("document", { document: String(node.properties["key"] ?? node.caption), edges: EDGES });
  };
  const open = (/** @type {DrawnNode} */ node) => {
    const properties = { id: node.id, name: node.caption, ...node.properties };
    const to = linkTo({ element: "", labels: [node.label], properties }, app.collection);
    if (to) app.go(to);
  };
  const graph = await load(query, values), view = new GraphView({ looks: app.start.looks, expand, open, height: HEIGHT });
  setTimeout(() => view.add(graph));
  return view.element;
}
