// The Graph page: a map of the open collection, the neighbours of a name, and paths between two names.

import { address, call, get } from "./api.js";
import { attempt, button, empty, fill, h, icon, loading, problem } from "./dom.js";
import { GraphView } from "./drawing.js";
import { highlighted } from "./sources.js";

/** @typedef {import("./drawing.js").DrawnNode} DrawnNode */
/** @typedef {import("./drawing.js").Drawing} Drawing */
/** @typedef {import("./app.js").App} App */
/** The subject of the page. @typedef {{name?: string, other?: string, passage?: string}} Sought */
/** @typedef {{one: string, other: string, passage: string, title: string, sentence: string, marks: [number, number][]}} Tie */
/** @typedef {Drawing & {ways: number, ties: Tie[]}} Connection */

const EDGES = 40; // that an expanded node brings
const PASSAGE_EDGES = 10; // of each kind
const SUGGESTIONS = 8, PAUSE = 150; // milliseconds after a key before names are asked for
let boxes = 0;

/**
 * Show the page.
 * @param {HTMLElement} view
 * @param {App} app
 */
export async function show(view, app) {
  app.title("Graph");
  await new Page(view, app).begin();
}

class Page {
  /** @param {HTMLElement} view @param {App} app */
  constructor(view, app) {
    this.app = app;
    this.drawing = new GraphView({ looks: app.start.looks, expand: (node) => this.expanded(node), open: (node) => this.opened(node) });
    this.first = nameBox("Find a name", (text) => this.names(text), (name) => this.named(name));
    this.second = nameBox("The other name", (text) => this.names(text), () => this.connected());
    this.second.element.hidden = true;
    this.two = button({ icon: "path", title: "How two are connected", pressed: false,
      onclick: () => this.ask(this.second.element.hidden) });
    this.told = h("div", { class: "graph-told", role: "status", hidden: true });
    this.over = h("div", { class: "graph-over", hidden: true });
    this.busy = h("div", { class: "graph-busy", hidden: true });
    fill(view, h("div", { class: "graph-page" },
      h("div", { class: "graph-bar" }, this.first.element, this.second.element, this.two,
        button({ icon: "close", title: "Clear", onclick: () => this.clear() })),
      this.told,
      h("div", { class: "graph-stage" }, this.drawing.element, this.over, this.busy)));
  }

  /** Draw the subject of the address, or the map. */
  async begin() {
    if (!this.app.collection) return this.cover(empty("Nothing to draw yet", "Add documents to see their names here.", h("a", { class: "button main", href: "/library" }, "Add documents")));
    const { query } = this.app, name = query.get("name"), other = query.get("other"), passage = query.get("passage");
    if (name) this.first.input.value = name;
    if (name && other) {
      this.ask(true);
      this.second.input.value = other;
      await this.opening(() => this.connect(name, other));
    } else if (name) await this.opening(() => this.look(name));
    else if (passage) await this.opening(() => this.lookAtPassage(passage));
    else await this.opening(() => this.map());
  }

  /** Draw the subject of the page, or show the error in place of the drawing. @param {() => Promise<unknown>} does */
  async opening(does) {
    this.cover(loading("Drawing the graph"));
    try {
      await does();
      this.cover(null);
    } catch (error) {
      if (this.app.signal.aborted) return;
      const map = button({ title: "Show the map", kind: "line", onclick: () => this.showMap() });
      if (error instanceof Nothing) this.cover(empty(error.message, error.remedy, error.map && map));
      else this.cover(problem(error, button({ title: "Try again", icon: "again", kind: "line", onclick: () => this.opening(does) })));
    }
  }

  /** Show an element instead of the drawing; null shows the drawing again. @param {HTMLElement | null} what */
  cover(what) {
    this.over.hidden = what === null;
    this.drawing.element.inert = what !== null;
    fill(this.over, what);
  }

  /** Show that more is loading. @template T @param {() => Promise<T>} does */
  async waiting(does) {
    this.busy.hidden = false;
    fill(this.busy, loading());
    try {
      return await does();
    } finally {
      this.busy.hidden = true;
    }
  }

  // --------------------------------------------------------------------------------------------------------- the drawing

  async map() {
    const graph = await this.drawn("map", {});
    if (!graph) {
      const { counts } = await get(address(["collections", this.app.collection]), this.app.signal);
      const text = counts.Passage ? "No names were found in the documents of this collection." : "Add documents to this collection to see their names here.";
      throw new Nothing("No names yet", text, false);
    }
    this.drawing.add(graph);
  }

  /** Draw the neighbours of a name. @param {string} name */
  async look(name) {
    const graph = await this.drawn("around", { entity: name, edges: EDGES });
    if (!graph) throw new Nothing(`Nothing is linked to “${name}”.`, "No name in this collection is similar. Try another one.");
    this.drawing.add(graph);
    const [start] = graph.nodes; // all paths begin there
    this.drawing.choose(start.id);
    this.seek({ name: nameOf(start) });
  }

  /** @param {string} id */
  async lookAtPassage(id) {
    this.drawing.add(await this.passage(id));
    this.drawing.choose(id);
  }

  /** Draw the paths between two names. @param {string} name @param {string} other */
  async connect(name, other) {
    const to = address(["collections", this.app.collection, "drawings", "connection"], { name, other });
    const connection = /** @type {Connection} */ (await get(to, this.app.signal));
    if (connection.ways === 0) {
      throw new Nothing("No connection found.", `Nothing leads from “${name}” to “${other}” in eight steps or fewer.`);
    }
    this.drawing.add(connection);
    this.drawing.choose(null);
    this.drawing.highlight(connection.nodes.map((node) => node.id));
    this.drawing.fit();
    this.tell(connection);
    this.seek({ name, other });
  }

  /** Show a path in sentences of its passages. @param {Connection} found */
  tell({ nodes, ties, ways }) {
    const ids = new Map(nodes.filter(({ label }) => label === "Entity").map((node) => [nameOf(node), node.id]));
    const place = (/** @type {string} */ name) => button({ title: name, onclick: () => this.drawing.choose(ids.get(name) ?? null) });
    this.told.hidden = false;
    fill(this.told, h("div", {},
      h("ol", { class: "graph-way" }, ties.map((tie) => h("li", {}, place(tie.one), " – ", place(tie.other),
        tie.sentence && h("p", { class: "text" }, highlighted(tie.sentence, tie.marks), " ", tie.passage && this.source(tie))))),
      ways > 1 && h("p", { class: "hint" }, `one of ${ways} ways as short`)),
    button({ icon: "close", label: "Show all as before", onclick: () => this.untell() }));
  }

  /** @param {Tie} tie */
  source({ passage, title }) {
    return h("a", { href: `/passage/${encodeURIComponent(this.app.collection)}/${encodeURIComponent(passage)}` }, title || "The passage");
  }

  untell() {
    this.told.hidden = true;
    this.drawing.highlight(null);
  }

  // ------------------------------------------------------------------------------------------------------------- actions

  /** Show or hide the second name. @param {boolean} both */
  ask(both) {
    this.second.element.hidden = !both;
    this.two.setAttribute("aria-pressed", String(both));
    if (!both) return this.untell();
    (this.first.input.value.trim() ? this.second : this.first).input.focus();
  }

  /** Use the first name. @param {string} name */
  async named(name) {
    if (!this.second.element.hidden && this.second.input.value.trim()) return this.connected();
    this.untell();
    await this.adding(() => this.look(name));
    if (!this.second.element.hidden) this.second.input.focus();
  }

  /** Use both names, or wait for the first. */
  async connected() {
    const [name, other] = [this.first, this.second].map((box) => box.input.value.trim());
    if (!name || !other) return (name ? this.second : this.first).input.focus();
    await this.adding(() => this.connect(name, other));
  }

  /** Add to the drawing; if it is empty, start like the page does. @param {() => Promise<unknown>} does */
  async adding(does) {
    if (!this.over.hidden) return await this.opening(does);
    await this.waiting(does);
  }

  clear() {
    this.untell();
    this.drawing.clear();
    for (const box of [this.first, this.second]) box.input.value = "";
    this.seek({});
    this.cover(empty("Nothing is drawn", "Find a name to see its neighbours.",
      button({ title: "Show the map", kind: "line", onclick: () => this.showMap() })));
    this.first.input.focus();
  }

  async showMap() {
    this.drawing.clear();
    this.seek({});
    await this.opening(() => this.map());
  }

  /** Put the subject into the address. @param {Sought} sought */
  seek(sought) {
    this.app.go(`/graph?${new URLSearchParams({ ...sought, collection: this.app.collection })}`, { replace: true });
  }

  /** Fetch the neighbours of a node. @param {DrawnNode} node @returns {Promise<Drawing>} */
  async expanded(node) {
    if (node.label === "Passage") return await this.passage(String(node.properties.id ?? node.id));
    const graph = node.label === "Entity"
      ? await this.drawn("around", { entity: nameOf(node), edges: EDGES })
      : await this.drawn("document", { document: String(node.properties.key ?? node.properties.title ?? nameOf(node)), edges: EDGES });
    return graph ?? { nodes: [], edges: [] };
  }

  /** @param {DrawnNode} node */
  opened(node) {
    if (node.label === "Passage") {
      const id = String(node.properties.id ?? node.id);
      return this.app.go(`/passage/${encodeURIComponent(this.app.collection)}/${encodeURIComponent(id)}`);
    }
    this.untell();
    this.drawing.clear();
    this.first.input.value = nameOf(node);
    attempt(() => this.opening(() => this.look(nameOf(node))));
  }

  // ------------------------------------------------------------------------------------------------------- from the server

  /** Run a saved query; null if it finds nothing. @param {string} query @param {Record<string, string | number>} parameters */
  async drawn(query, parameters) {
    const to = address(["collections", this.app.collection, "drawings", "queries", query]);
    try {
      return /** @type {Drawing} */ (await call("POST", to, { parameters }, this.app.signal));
    } catch (error) {
      const details = /** @type {{kind?: string, message?: string}} */ (error);
      if (details.kind === "InputError" && details.message?.includes("no node")) return null;
      throw error;
    }
  }

  /** @param {string} id @returns {Promise<Drawing>} */
  async passage(id) {
    const to = address(["collections", this.app.collection, "drawings", "passage"], { id, edges: PASSAGE_EDGES });
    return await get(to, this.app.signal);
  }

  /** @param {string} text @returns {Promise<{name: string, passages: number}[]>} */
  async names(text) {
    const to = address(["collections", this.app.collection, "names"], { q: text, limit: SUGGESTIONS });
    return (await get(to, this.app.signal)).names;
  }
}

/** The subject does not exist, which is not an error. */
class Nothing extends Error {
  /** @param {string} message @param {string} remedy @param {boolean} [map] whether the map may be shown instead */
  constructor(message, remedy, map = true) {
    super(message);
    this.remedy = remedy;
    this.map = map;
  }
}

/** @param {DrawnNode} node */
function nameOf(node) {
  return String(node.properties.name ?? node.caption);
}

/**
 * A box for a name, with completions.
 * @param {string} title
 * @param {(text: string) => Promise<{name: string, passages: number}[]>} ask
 * @param {(name: string) => unknown} value
 */
function nameBox(title, ask, value) {
  const id = `graph-names-${++boxes}`;
  const list = h("ul", { id, class: "graph-suggestions", role: "listbox", "aria-label": title, hidden: true });
  const input = h("input", { type: "search", class: "graph-name", placeholder: title, "aria-label": title, role: "combobox",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": id, autocomplete: "off", spellcheck: false });
  /** @type {string[]} */
  let names = [];
  let at = -1, timer = 0, request = 0;

  /** @param {{name: string, passages: number}[]} options */
  function suggest(options) {
    names = options.map(({ name }) => name);
    fill(list, options.map(({ name, passages }, place) => {
      const option = h("li", { id: `${id}-${place}`, role: "option", "aria-selected": "false" }, h("span", {}, name),
        h("span", { class: "graph-count" }, passages === 1 ? "1 passage" : `${passages} passages`));
      option.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
      option.addEventListener("click", () => take(name));
      return option;
    }));
    list.hidden = names.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark(-1);
  }

  /** @param {number} place */
  function mark(place) {
    at = place;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    if (at < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", `${id}-${at}`);
    list.children[at].scrollIntoView({ block: "nearest" });
  }

  function close() {
    clearTimeout(timer);
    request++; // what is still on its way comes too late
    suggest([]);
  }

  /** @param {string} name */
  function take(name) {
    close();
    input.value = name;
    attempt(() => value(name));
  }

  async function search() {
    const text = input.value.trim(), mine = ++request;
    if (!text) return suggest([]);
    const options = await ask(text).catch(() => []); // the name can be typed all the same
    if (mine === request) suggest(options);
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(search, PAUSE);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && names.length === 0) search();
    else if (by !== 0) mark((at + by + names.length + (at < 0 && by < 0 ? 1 : 0)) % names.length);
    else if (event.key === "Enter" && input.value.trim()) take(names[at] ?? input.value.trim());
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });
  return { element: h("div", { class: "graph-box" }, icon("search"), input, list), input };
}
