// Pairs of names that may mean one entity, for people to decide.
import { address, get, post } from "./api.js";
import { attempt, button, count, counted, empty, fill, h, loading, problem, say, select } from "./dom.js";
import { badge } from "./jobs.js";
import { highlighted } from "./sources.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {{one: string, other: string, score: number, evidence: string, kind: string, by: string, contexts: [string, string]}} Pair */
/** @typedef {{names: number, number: number, pairs: Pair[]}} Found */

const PAGE = 50, TYPING = 300;
const KEPT_BACK = 5000; // milliseconds in which a decision can be taken back, before it is sent
const TOGETHER = 500;

/** @param {App} app */
export function duplicates(app) {
  return new Duplicates(app).element;
}

class Duplicates {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.filter = "";
    /** @type {"doubtful" | "same" | "apart"} */
    this.kind = "doubtful";
    /** @type {Row[]} */
    this.rows = [];
    /** Decisions not sent yet. @type {{row: Row, same: boolean | null, before: Element | null}[]} */
    this.pending = [];
    this.timer = 0;
    this.decided = this.number = this.names = 0;
    this.write = app.may("write");
    this.told = h("p", { class: "quiet", role: "status" });
    this.bulk = h("div", { class: "row" });
    this.list = h("ul", { class: "pairs", "aria-label": "Pairs of names" });
    this.below = h("div", { class: "row more" });
    this.list.addEventListener("keydown", (event) => attempt(() => this.key(event)));
    let typing = 0;
    const find = h("input", { type: "search", placeholder: "Only names with", "aria-label": "Only pairs with this in a name",
      oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => { this.filter = find.value.trim(); void this.load(); }, TYPING);
    } });
    const kinds = select([["doubtful", "In doubt"], ["same", "Taken for the same"], ["apart", "Told apart"]], this.kind, (kind) => {
      this.kind = kind === "same" || kind === "apart" ? kind : "doubtful"; void this.load(); }, { "aria-label": "Which pairs" });
    this.element = h("div", { class: "col" }, h("p", { class: "quiet" },
      "Texts use several names for one entity. Your decisions take effect when names are linked again: “Link names” on the tab Work."),
      !this.write && h("p", { class: "hint" }, "Your key may only read: you can see pairs, but not decide on them."),
      h("div", { class: "row" }, h("div", { class: "grow" }, find), h("div", {}, kinds)), this.told, this.bulk, this.list, this.below,
      this.write && h("p", { class: "hint keys" }, "Keys: ", ...["J", "next, ", "K", "the one before, ", "S", "the same, ", "N",
        "not the same, ", "X", "choose"].map((text, at) => at % 2 ? ` ${text}` : h("kbd", {}, text))));
    app.signal.addEventListener("abort", () => void attempt(() => this.flush()));
    addEventListener("pagehide", () => void this.flush(), { signal: app.signal });
    void this.load();
  }

  /** @param {number} offset @returns {Promise<Found>} */
  listed(offset) {
    return get(address(["collections", this.app.collection, "name-pairs"], { filter: this.filter, kind: this.kind, limit: PAGE, offset }),
      this.app.signal);
  }

  /** List the pairs from the start. */
  async load() {
    try {
      fill(this.below, loading("Comparing names"));
      await this.flush();
      const view = `${this.filter} ${this.kind}`, page = await this.listed(0);
      if (view !== `${this.filter} ${this.kind}`) return;
      this.rows = [];
      fill(this.list);
      this.append(page);
    } catch (error) {
      if (!this.app.signal.aborted) fill(this.below,
        problem(error, button({ title: "Try again", icon: "again", kind: "line", onclick: () => this.load() })));
    }
  }

  async more() {
    await this.flush();
    this.append(await this.listed(this.rows.length));
  }

  /** @param {Found} found */
  append({ names, number, pairs }) {
    this.names = names;
    this.number = number;
    for (const pair of pairs) {
      const row = new Row(pair, this);
      this.rows.push(row);
      this.list.append(row.element);
    }
    if (!this.list.querySelector("[tabindex='0']")) this.rows[0]?.element.setAttribute("tabindex", "0");
    this.draw();
  }

  draw() {
    const left = this.number - this.pending.length, total = this.rows.length, selection = this.rows.filter((row) => row.chosen);
    this.told.textContent = this.decided > 0 ? `${count(this.decided)} decided, ${count(left)} left`
      : `${counted(left, "pair")} among ${counted(this.names, "name")}`;
    fill(this.bulk, this.write && total > 0 && [
      h("label", { class: "tick" }, h("input", { type: "checkbox", checked: selection.length === total,
        onchange: (/** @type {Event} */ event) => this.chooseAll(/** @type {HTMLInputElement} */ (event.target).checked) }),
        h("span", {}, "Choose all shown")),
      selection.length > 0 && h("span", { class: "strong" }, `${count(selection.length)} chosen`),
      selection.length > 0 && button({ title: "The same", icon: "check", kind: "line", onclick: () => this.decide(selection, true) }),
      selection.length > 0 && button({ title: "Not the same", icon: "close", kind: "line", onclick: () => this.decide(selection, false) })]);
    fill(this.below, left > total && button({ title: total > 0 ? "More" : "Go on", icon: "down", kind: "line",
      onclick: () => this.more() }), left <= 0 && this.none());
  }

  none() {
    if (this.filter) return empty("Nothing fits", `No pair has a name with “${this.filter}”.`);
    if (this.decided > 0) return empty("All decided", "Link the names, so that searches use your decisions.",
      h("a", { class: "button main", href: "/library?tab=work" }, "Go to Work"));
    return this.kind === "same" ? empty("No pairs", "No pairs are accepted yet.") : empty("No doubt",
      "No two names look like one entity.");
  }

  /** @param {boolean} on */
  chooseAll(on) {
    for (const row of this.rows) row.choose(on);
    this.draw();
  }

  /**
   * Mark rows as decided; the decisions are sent a little later, so that mistakes can be undone.
   * @param {Row[]} rows
   * @param {boolean | null} same null: a decision is taken back
   */
  decide(rows, same) {
    if (!this.write || rows.length === 0) return;
    const at = Math.max(0, this.rows.indexOf(/** @type {Row} */ (rows[0]))),
      focused = rows.some((row) => row.element.contains(document.activeElement));
    const decisions = rows.map((row) => ({ row, same, before: row.element.nextElementSibling }));
    this.pending.push(...decisions);
    this.rows = this.rows.filter((row) => !rows.includes(row));
    for (const { element } of rows) element.remove();
    this.decided += rows.length;
    this.draw();
    const next = this.rows[Math.min(at, this.rows.length - 1)];
    if (next) this.stand(next, focused);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void attempt(() => this.flush()), KEPT_BACK);
    const first = rows[0]?.pair;
    const verdict = same === null ? "undecided again" : same ? "the same" : "not the same";
    say(`${rows.length === 1 && first ? `${first.one} and ${first.other}` : counted(rows.length, "pair")}: ${verdict}`,
      { seconds: KEPT_BACK / 1000, action: { title: "Undo", does: () => this.undo(decisions) } });
  }

  /** @param {{row: Row, same: boolean | null, before: Element | null}[]} decisions */
  undo(decisions) {
    const back = decisions.filter((one) => this.pending.includes(one));
    if (back.length === 0) return say("It is saved already. Look for the pair under the other filter of the list.");
    this.pending = this.pending.filter((one) => !back.includes(one));
    this.putBack(back);
  }

  /** @param {{row: Row, before: Element | null}[]} back */
  putBack(back) {
    for (const { row, before } of back.reverse()) {
      this.list.insertBefore(row.element, before?.parentElement === this.list ? before : null);
      row.choose(false);
    }
    const order = [...this.list.children];
    this.rows = [...this.rows, ...back.map(({ row }) => row)].sort((one,
      other) => order.indexOf(one.element) - order.indexOf(other.element));
    this.decided -= back.length;
    this.draw();
  }

  /** Send the decisions. */
  async flush() {
    clearTimeout(this.timer);
    while (this.pending.length > 0) {
      const batch = this.pending.splice(0, TOGETHER);
      this.number -= batch.length;
      try {
        await post(address(["collections", this.app.collection, "name-pairs"]),
          { decisions: batch.map(({ row: { pair: { one, other } }, same }) => ({ one, other, same })) });
      } catch (error) {
        this.number += batch.length;
        this.putBack(batch);
        throw error;
      }
    }
    if (this.rows.length === 0 && this.number > 0 && !this.app.signal.aborted && this.decided > 0) this.append(await this.listed(0));
  }

  /** @param {Row} row @param {boolean} [focus] */
  stand(row, focus = true) {
    for (const other of this.rows) other.element.tabIndex = other === row ? 0 : -1;
    if (focus) row.element.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.rows.findIndex((row) => row.element.contains(/** @type {Node} */ (event.target))), row = this.rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key], next = step && this.rows[at + step];
    if (next) this.stand(next);
    else if (event.key === "s") this.decide([row], true);
    else if (event.key === "n") this.decide([row], false);
    else if (event.key === "x") { row.choose(!row.chosen); this.draw(); }
    else if (!step) return;
    event.preventDefault();
  }
}

class Row {
  /** @param {Pair} pair @param {Duplicates} of */
  constructor(pair, of) {
    this.pair = pair;
    this.tick = h("input", { type: "checkbox", tabIndex: -1, "aria-label": `Choose ${pair.one} and ${pair.other}`,
      onchange: () => of.draw() });
    this.element = h("li", { class: "panel pair", tabIndex: -1, onfocus: () => of.stand(this, false),
      "aria-label": `${pair.one}, and ${pair.other}: ${pair.evidence}` },
      of.write && this.tick, h("div", { class: "pair-names" }, side(pair.one, pair.contexts[0]), side(pair.other, pair.contexts[1])),
      h("p", { class: "hint pair-why" }, pair.evidence, pair.by === "person" && [" ", badge("decided")]),
      of.write && h("div", { class: "row pair-does" }, button({ title: "The same", icon: "check", kind: "line",
        onclick: () => of.decide([this], true) }),
        of.kind === "apart" ? button({ title: "Undecided", icon: "again", kind: "line", onclick: () => of.decide([this], null) })
          : button({ title: "Not the same", icon: "close", kind: "line", onclick: () => of.decide([this], false) })));
  }

  get chosen() {
    return this.tick.checked;
  }

  /** @param {boolean} on */
  choose(on) {
    this.tick.checked = on;
  }
}

/** A name with a sentence that contains it. @param {string} name @param {string} context */
function side(name, context) {
  return h("div", {}, h("h3", { dir: "auto" }, name), context ? h("p", { class: "small", dir: "auto" }, marked(context, name))
    : h("p", { class: "hint" }, "No sentence with it was found."));
}

/** A text with a name marked. @param {string} text @param {string} name */
function marked(text, name) {
  const lower = text.toLowerCase(), target = name.toLowerCase();
  /** @type {[number, number][]} */
  const marks = [];
  for (let at = lower.length === text.length ? lower.indexOf(target) : -1; target && at >= 0; at = lower.indexOf(target, at + name.length)) {
    marks.push([at, at + name.length]);
  }
  return highlighted(text, marks);
}
