// The Lab: two ways to answer beside each other, the saved queries, and the answers that were kept.
import { address, get, post, remove } from "./api.js";
import { agreed, attempt, button, count, counted, empty, fill, h, icon, loading, problem, say, when } from "./dom.js";
import { drawing, showQueries } from "./queries.js";
import { Sources } from "./sources.js";
import { TurnView } from "./turn.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./app.js").Start} Start
 * @typedef {import("./turn.js").Shown} Shown
 * @typedef {import("./turn.js").Turn} Turn
 */
/**
 * What a tab works with. `link`: the address of the tab with what is chosen there; `seek`: the same, put into the address.
 * `wait`: does something, and shows in `box` that it is under way, or why it failed, with a way to try again.
 * @typedef {{app: App, link: (its: Record<string, string>) => string, seek: (its: Record<string, string>) => void,
 *   wait: (box: HTMLElement, does: () => Promise<unknown>, text?: string) => Promise<void>}} Lab
 */
/**
 * An answer that was kept.
 * @typedef {{id: string, question: string, system: string, answer: string, found: boolean, problem: string, created: string,
 *   steps: number, seconds: number, calls: number, tokens: number, cost: number | null, good: boolean | null, remark: string}} Run
 */

/** @type {[string, string, (box: HTMLElement, lab: Lab) => unknown][]} */
const TABS = [
  ["beside", "Side by side", (box, lab) => new SideBySide(box, lab).begin()],
  ["queries", "Saved queries", showQueries],
  ["kept", "Kept answers", showKept],
];
const FIRST = 5; // passages that are compared
const PART = 100; // items that are shown at once

/** @param {HTMLElement} view @param {App} app */
export async function show(view, app) {
  const [tab, title, tabShow] = TABS.find(([name]) => name === app.query.get("tab")) ?? /** @type {typeof TABS[0]} */ (TABS[0]);
  const lab = makeLab(app, tab), box = h("section", { class: "col lab-tab", "aria-label": title });
  app.title(`${title} · Lab`);
  fill(view, h("div", { class: "page-body" }, h("h1", {}, "Lab"),
    h("nav", { class: "tabs", "aria-label": "Parts of the Lab" }, TABS.map(([name, part]) =>
      h("a", { href: `/lab?tab=${name}`, "aria-current": name === tab && "page" }, part))), box));
  if (app.start.collections.length > 0) await tabShow(box, lab);
  else {
    fill(box, empty("Nothing to try out yet", "Here, ways to answer are compared and the graph is queried. Both need documents.",
      app.may("write") && h("a", { class: "button main", href: "/library" }, icon("upload"), "Add documents")));
  }
}

/** @param {App} app @param {string} tab @returns {Lab} */
function makeLab(app, tab) {
  const link = (/** @type {Record<string, string>} */ values) => {
    const entries = Object.entries({ tab, collection: app.collection, ...values }).filter(([, value]) => value !== "");
    return `/lab?${new URLSearchParams(entries)}`;
  };
  /** @type {Lab["wait"]} */
  const wait = async (box, does, text) => {
    fill(box, loading(text));
    try {
      await does();
    } catch (error) {
      if (app.signal.aborted) return;
      fill(box, problem(error, button({ title: "Try again", icon: "again", onclick: () => wait(box, does, text) })));
    }
  };
  return { app, link, wait, seek: (values) => { if (!app.signal.aborted) app.go(link(values), { replace: true }); } };
}

// ---------------------------------------------------------------------------------------------------------- side by side

/** One question, answered in two ways. */
class SideBySide {
  /** @param {HTMLElement} box @param {Lab} lab */
  constructor(box, lab) {
    const { start, query, collection } = lab.app, searches = !start.model;
    this.lab = lab;
    this.pane = new Sources({ collection });
    this.field = h("textarea", { rows: 2, maxLength: 10_000, placeholder: "Ask a question", "aria-label": "Question",
      value: query.get("q") ?? "" });
    this.sides = [new Side(this, "One way", query.get("one") ?? (searches ? "search" : "fast")),
      new Side(this, "The other way", query.get("other") ?? (searches ? "search: bm25" : "search"))];
    this.told = h("div", { role: "status" });
    this.answers = h("div", { class: "lab-sides" }, this.sides.map((side) => side.element));
    this.hello = h("div", { class: "lab-hello" });
    fill(box, this.form(), this.hello, this.told, this.answers);
    box.parentElement?.after(this.pane.element);
    this.pane.element.addEventListener("keydown", (event) => { if (event.key === "Escape") this.pane.close(); });
    this.answers.addEventListener("click", (event) => { // what is clicked stays in sight above the pane
      const clicked = event.target instanceof Element ? event.target.closest("button") : null;
      if (!this.pane.element.hidden) clicked?.scrollIntoView({ block: "nearest" });
    });
    this.begun(false);
  }

  form() {
    const form = h("form", { class: "panel col" }, this.field, h("div", { class: "lab-ways" }, this.sides.map((side) => side.choice)),
      h("div", { class: "row" }, button({ title: "Ask both", icon: "send", kind: "main", type: "submit" }),
        h("p", { class: "hint" }, `in ${this.lab.app.collection}`,
          !this.lab.app.start.model && " · search only: no language model configured")));
    form.addEventListener("submit", (event) => { event.preventDefault(); void attempt(() => this.ask()); });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    return form;
  }

  /** Show the answers that the address names, else questions to begin with. */
  async begin() {
    const turns = (this.lab.app.query.get("turns") ?? "").split(",");
    if (turns.length === this.sides.length) {
      this.begun(true);
      await Promise.all(this.sides.map((side, place) => side.open(turns[place] ?? "")));
      return;
    }
    if (matchMedia("(hover: hover)").matches) this.field.focus();
    const { app } = this.lab, to = address(["collections", app.collection, "examples"]);
    const { questions } = await get(to, app.signal).catch(() => ({ questions: [] })); // one can ask without them
    fill(this.hello, h("p", { class: "quiet" }, "See how two ways to answer differ: what they find, what they say, and what that takes."),
      questions.map((/** @type {string} */ text) => button({ title: text, kind: "line", icon: "ask", onclick: () => this.ask(text) })));
  }

  /** @param {boolean} whether */
  begun(whether) {
    this.hello.hidden = whether;
    this.answers.hidden = !whether;
  }

  async ask(question = this.field.value.trim()) {
    this.field.value = question;
    if (!question) return this.field.focus();
    this.begun(true);
    this.pane.close();
    this.answers.scrollIntoView({ block: "nearest" });
    await Promise.all(this.sides.map((side) => side.ask(question)));
  }

  /** What is asked stands in the address; once both have begun, their answers do. */
  seek() {
    const [one = "", other = ""] = this.sides.map((side) => side.way.value), turns = this.sides.map((side) => side.shown?.turn.id ?? "");
    this.lab.seek({ q: this.field.value.trim(), one, other, turns: turns.every(Boolean) ? turns.join() : "" });
  }

  /** Compare what both found, once both have ended. */
  compare() {
    const [one, other] = this.sides;
    if (!one?.over || !other?.over) return fill(this.told);
    const [mine, theirs] = [one, other].map((side) => side.shown?.sources.slice(0, FIRST) ?? []);
    const both = [one, other].map((side) => side.title), ids = new Set(theirs?.map((source) => source.passage.id));
    const first = mine?.[0], same = first && first.passage.id === theirs?.[0]?.passage.id;
    const shared = mine?.filter((source) => ids.has(source.passage.id)).length ?? 0;
    fill(this.told, h("dl", { class: "panel lab-compared", "aria-label": "Compared" },
      figure("First passage", same ? `The same: ${first.heading}` : first || theirs?.[0] ? "Another one" : "None"),
      figure(`Of the first ${FIRST} passages`, `${shared} shared`),
      pair("Seconds", both, [one, other].map((side) => side.seconds === null ? "not kept" : side.seconds.toFixed(1))),
      pair("Tokens", both, [one, other].map((side) => count(tokens(side.shown))))));
  }
}

/** One of the two: how it is answered, and the answer. */
class Side {
  /** @param {SideBySide} both @param {string} name @param {string} value */
  constructor(both, name, value) {
    const { start } = both.lab.app;
    this.both = both;
    /** @type {Shown | null} */
    this.shown = null;
    this.over = false;
    this.asked = 0; // times; what came of one before the last is not shown
    /** @type {number | null} */
    this.seconds = null;
    this.way = ways(start, value);
    this.way.setAttribute("aria-label", name);
    const hint = h("p", { class: "hint" }, meaning(start, this.way.value));
    this.way.addEventListener("change", () => fill(hint, meaning(start, this.way.value)));
    this.choice = h("div", { class: "field" }, h("span", { class: "lab-way", "aria-hidden": "true" }, name), this.way, hint);
    this.head = h("h2", {});
    this.body = h("div", {});
    this.element = h("section", { class: "panel lab-side" }, this.head, this.body);
  }

  get title() {
    return this.way.selectedOptions[0]?.textContent ?? "";
  }

  /** @param {string} question */
  async ask(question) {
    const { app, wait } = this.both.lab, began = Date.now();
    this.start();
    const request = ++this.asked;
    await wait(this.body, async () => {
      const turn = await post(address(["turns"]), { collections: [app.collection], question, ...how(app.start, this.way.value) });
      if (request !== this.asked) return;
      await this.follow({ turn, mine: true, answer: null, steps: [], sources: [], notes: [], hops: [], follow_ups: [] });
      if (request !== this.asked) return;
      void app.history();
      if (this.over && this.seconds === null) this.seconds = (Date.now() - began) / 1000;
      this.both.compare();
    }, "Asking");
  }

  /** Show an answer that was given before. @param {string} id */
  async open(id) {
    this.start();
    const { app, wait } = this.both.lab;
    await wait(this.body, async () => this.follow(await get(address(["turns", id]), app.signal)), "Loading the answer");
    this.both.compare();
  }

  start() {
    this.shown = null;
    this.over = false;
    this.seconds = null;
    fill(this.head, this.title);
    this.element.setAttribute("aria-label", this.title);
    this.both.compare();
  }

  /** Show a turn until it has ended. @param {Shown} item */
  async follow(item) {
    const { app } = this.both.lab;
    this.shown = item;
    this.both.seek();
    const view = new TurnView(item, {
      signal: app.signal, pane: this.both.pane, looks: app.start.looks, model: app.start.model,
      edit: () => this.both.field.focus(), ask: (question) => this.ask(question), again: (turn) => this.ask(turn.question), ended: (item) => this.ended(item), grown: () => undefined,
    });
    fill(this.body, view.element);
    if (view.over) this.ended(item);
    else await view.follow();
  }

  /** @param {Shown} item */
  ended(item) {
    if (item.turn.id !== this.shown?.turn.id) return;
    this.shown = item;
    this.over = true;
    this.seconds = item.answer?.seconds ?? null;
    this.both.compare();
  }
}

/** The ways to answer, all systems and searches among them. @param {Start} start @param {string} selection */
function ways(start, selection) {
  const usual = [...start.model ? [["fast", "Fast"], ["thorough", "Thorough"]] : [], ["search", "Search only"]];
  const listed = h("select", {}, usual.map(([value, title]) => h("option", { value }, title)),
    start.model ? group("Advanced: ways to answer", start.systems.map(({ name }) => name)) : null,
    group("Advanced: ways to search", start.retrievers.filter(({ alone }) => alone).map(({ name }) => `search: ${name}`)));
  if (![...listed.options].some(({ value }) => value === selection) && start.model) listed.append(h("option", { value: selection }, selection));
  listed.value = selection;
  if (!listed.value) listed.value = "search";
  return listed;
}

/** @param {string} label @param {string[]} names */
const group = (label, names) => h("optgroup", { label }, names.map((name) => h("option", { value: name }, name)));

/** @param {Start} start @param {string} way @returns {{system: string} | {retriever: string}} */
function how(start, way) {
  if (way === "fast" || way === "thorough") return { system: start[way] };
  if (way === "search") return { retriever: start.search };
  return way.startsWith("search: ") ? { retriever: way.slice(8) } : { system: way };
}

/** What a way does, in a sentence. @param {Start} start @param {string} way */
function meaning(start, way) {
  const choice = how(start, way), name = "system" in choice ? choice.system : choice.retriever;
  const summary = ("system" in choice ? start.systems : start.retrievers).find((one) => one.name === name)?.meaning ?? "";
  return way === name || way === `search: ${name}` ? summary : [name, summary].filter(Boolean).join(": ");
}

/** @param {Shown | null} item */
const tokens = (item) => /** @type {{tokens?: number} | undefined} */ (item?.turn)?.tokens ?? 0;

/** @param {string} name @param {string} value */
const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

/** What both took. @param {string} name @param {string[]} who @param {string[]} values */
const pair = (name, who, values) => h("div", {}, h("dt", {}, name),
  values.map((value, place) => h("dd", {}, value, " ", h("span", { class: "hint" }, who[place]))));

// ---------------------------------------------------------------------------------------------------------- kept answers

/** @param {HTMLElement} box @param {Lab} lab */
async function showKept(box, lab) {
  await lab.wait(box, async () => {
    const { runs } = await get(address(["collections", lab.app.collection, "runs"]), lab.app.signal);
    if (runs.length === 0) fill(box, noneKept());
    else {
      const list = h("ol", { class: "lab-list" });
      fill(box, h("p", { class: "quiet" }, `${counted(runs.length, "answer")} of ${lab.app.collection}, the newest first. `
        + "Each is a part of the graph, and can be drawn."), list);
      inParts(list, runs, (run) => keptItem(run, lab, () => showKept(box, lab)));
    }
  }, "Loading the answers");
}

/**
 * Show many items, the first of them at once and others when they are wanted.
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} items
 * @param {(item: T) => HTMLElement} make
 */
function inParts(list, items, make) {
  list.append(...items.slice(0, PART).map(make));
  if (items.length <= PART) return;
  const show = () => {
    more.remove();
    inParts(list, items.slice(PART), make);
  };
  const left = button({ title: `Show more of ${count(items.length - PART)}`, kind: "line", onclick: show });
  const more = h("li", { class: "row lab-more" }, left);
  list.append(more);
}

function noneKept() {
  return empty("No answers are kept",
    "An answer that is kept becomes part of the graph: its question, its steps, and the passages that it cites. Keep one with:",
    h("code", {}, "kgrag ask \"your question\" --save"));
}

/** @param {Run} run @param {Lab} lab @param {() => unknown} removed called once it is removed */
function keptItem(run, lab, removed) {
  const picture = h("div", {}), { app } = lab, id = app.query.get("run");
  const system = run.calls ? run.system : `search: ${run.system}`;
  const again = new URLSearchParams({ collection: app.collection, q: run.question, system });
  const details = h("details", { class: "panel lab-kept", open: id ? run.id.startsWith(id) : false },
    h("summary", {}, h("span", { class: "text" }, run.question), h("span", { class: "row" }, facts(run)), icon("down")),
    h("div", { class: "col" },
      run.answer && h("p", { class: "text answer" }, run.answer),
      run.problem && h("p", { class: "row small" }, icon("warn"), run.problem),
      run.remark && h("p", { class: "text quiet" }, `“${run.remark}”`),
      picture,
      h("div", { class: "row" }, h("a", { class: "button line", href: `/?${again}` }, icon("ask"), "Ask it again"),
        app.may("write") && button({ title: "Remove", icon: "bin", kind: "danger", onclick: () => removeRun(run, lab, removed) }))));
  const opened = () => {
    if (!details.open) return;
    lab.seek({ run: run.id });
    if (!picture.hasChildNodes()) void lab.wait(picture, async () => fill(picture, await drawing(lab, "run", { run: run.id })), "Drawing");
  };
  details.addEventListener("toggle", opened);
  return h("li", {}, details);
}

/** What is to be known of a run at a glance. @param {Run} run */
function facts(run) {
  const spent = run.tokens ? [counted(run.tokens, "token"), run.cost ? `$${run.cost.toFixed(4)}` : ""] : [];
  const details = [when(run.created), counted(run.steps, "step"), `${run.seconds.toFixed(1)} s`, ...spent];
  return [h("span", { class: "badge" }, run.system),
    run.good !== null && h("span", { class: `badge ${run.good ? "ok" : "wrong"}` }, run.good ? "good" : "not good"),
    run.problem && h("span", { class: "badge warn" }, "problem"),
    run.calls > 0 && !run.found && h("span", { class: "badge" }, "no answer"),
    h("span", { class: "hint" }, details.filter(Boolean).join(" · "))];
}

/** @param {Run} run @param {Lab} lab @param {() => unknown} removed */
async function removeRun(run, lab, removed) {
  if (!await agreed("Remove this answer?", run.question, "Remove", true)) return;
  await remove(address(["collections", lab.app.collection, "runs", run.id]));
  lab.seek({});
  say("The answer is removed.");
  await removed();
}
