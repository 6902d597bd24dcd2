// The page of a conversation: its questions one below the other, and the sources of the current one beside them.
import { address, call, get, post, remove } from "./api.js";
import { agreed, attempt, button, count, dialog, empty, fill, h, icon, say, select } from "./dom.js";
import { Sources } from "./sources.js";
import { opened, TurnView } from "./turn.js";
import { upload } from "./upload.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./turn.js").Shown} Shown
 * @typedef {import("./turn.js").Turn} Turn
 */

const LONGEST = 10_000; // characters of a question
const MODE = "kgrag-mode", NARROW = matchMedia("(max-width: 1000px)");

/** @param {HTMLElement} view @param {App} app */
export async function show(view, app) {
  const id = app.path[0] ?? "";
  const turn = app.query.get("turn") ?? "", talk = id ? await get(address(["conversations", id], { turn }), app.signal) : { id: "", mine: true, collections: [], turns: [] };
  if (turn && talk.mine) await post(address(["turns", turn, "show"]), {});
  if (app.signal.aborted) return;
  if (app.start.collections.length === 0 && !id) {
    fill(view, h("div", { class: "page-body" }, empty("Nothing to ask yet", "Add documents, and ask about them.", app.may("write") && h("a", { class: "button main", href: "/library" }, icon("upload"), "Add documents"))));
    return;
  }
  new Talk(view, app, talk).begin();
}

class Talk {
  /** @param {HTMLElement} view @param {App} app @param {{id: string, mine: boolean, collections: string[], turns: Shown[]}} talk */
  constructor(view, app, talk) {
    this.app = app;
    this.id = talk.id;
    this.mine = talk.mine;
    this.collections = talk.collections.length ? talk.collections : [app.collection];
    this.shown = talk.turns;
    this.instead = "";
    this.asking = false;
    this.pane = new Sources({ collection: this.collections[0] ?? app.collection });
    this.turns = h("div", { class: "turns", tabindex: 0, role: "region", "aria-label": "Conversation" });
    this.field = h("textarea", { rows: 1, placeholder: this.id ? "Ask on" : "Ask a question", "aria-label": "Question", autofocus: true, value: sessionStorage.getItem(this.draft) ?? "" });
    this.modes = h("div", { class: "modes" });
    this.away = false;
    for (const kind of ["wheel", "touchmove", "keydown"]) this.turns.addEventListener(kind, () => { this.away = true; }, { passive: true });
    fill(view, h("div", { class: "talk" }, this.turns, this.mine ? this.composer() : this.foreign()), this.pane.element);
  }

  /** The storage key of the draft in this tab. */
  get draft() {
    return `kgrag-draft ${this.id}`;
  }

  begin() {
    const { app } = this;
    this.grow();
    for (const item of this.shown) void this.put(item).follow_();
    if (this.shown.length === 0) void attempt(() => this.hello());
    else {
      app.title(this.shown[0]?.turn.question ?? "");
      app.about(this.collections[0] ?? "");
    }
    const turn = app.query.get("turn"), last = this.shown.find((item) => item.turn.id === turn) ?? this.shown.at(-1);
    if (last) document.getElementById(`turn-${last.turn.id}`)?.scrollIntoView();
    if (last) this.beside(last);
    const question = app.query.get("q");
    if (question && !this.id) {
      const system = app.query.get("system") ?? "";
      app.go("/", { replace: true });
      void attempt(() => this.ask(question, system));
    }
    if (this.mine && matchMedia("(hover: hover)").matches) this.field.focus();
  }

  /** A greeting, with example questions. */
  async hello() {
    const name = this.collections.join(", ");
    const examples = h("div", { class: "examples" });
    fill(this.turns, h("div", { class: "hello" }, h("h1", {}, `Ask about ${name}`),
      !this.app.start.model && h("p", { class: "no-model" }, icon("search"), "Search only: no language model configured. kgrag finds passages and shows the trail to them."), examples));
    const [only = "", ...more] = this.collections, info = await get(address(["collections", only]), this.app.signal);
    if (!more.length && !info.counts.Passage) {
      return fill(examples, empty(`${only} holds nothing yet`, this.app.may("write") ? "Add documents, and ask about them." : "Users who may write to it can add documents.",
        this.app.may("write") && h("a", { class: "button main", href: "/library" }, icon("upload"), "Add documents")));
    }
    const { questions } = await get(address(["collections", only, "examples"]), this.app.signal);
    fill(examples, questions.map((/** @type {string} */ text) => button({ title: text, kind: "line", icon: "ask", onclick: () => this.ask(text) })));
  }

  /** Show a turn at the end. @param {Shown} item */
  put(item) {
    const view = new TurnView(item, {
      signal: this.app.signal, pane: this.pane, looks: this.app.start.looks, model: this.app.start.model,
      edit: (turn) => this.edit(turn),
      ask: (question) => this.ask(question),
      version: (id) => this.version(id),
      again: (turn) => { this.instead = turn.id; return this.ask(turn.question); },
      ended: (item) => {
        const place = this.shown.findIndex((one) => one.turn.id === item.turn.id);
        if (place >= 0) this.shown[place] = item;
        this.beside(item);
      },
      found: (sources) => {
        if (NARROW.matches || this.pane.dismissed) return false;
        this.pane.have(sources);
        this.pane.show(0);
        return true;
      },
      grown: (content) => this.follow(content),
    });
    this.turns.append(view.element);
    return { view, follow_: async () => { if (!view.over) await view.follow(); } };
  }

  /** Show another version of a turn, with its later turns. @param {string} id */
  version(id) {
    this.app.go(`/ask/${this.id}?turn=${id}`);
  }

  /** Show the sources of a turn beside it if there is room. @param {Shown} item */
  beside(item) {
    if (NARROW.matches || this.pane.dismissed) return;
    if (!item.sources.length || !opened(item)) return void (item.turn.state === "running" || this.pane.close());
    this.pane.have(item.sources);
    this.pane.show(0);
  }

  /** Keep the end of a growing answer in view, unless the visitor has scrolled. @param {HTMLElement} content */
  follow(content) {
    const below = content.getBoundingClientRect().bottom - this.turns.getBoundingClientRect().bottom;
    if (below > 0 && !this.away) this.turns.scrollTop += below;
  }

  composer() {
    const send = button({ icon: "send", label: "Ask", kind: "main", type: "submit" });
    const form = h("form", {}, h("div", { class: "box" }, this.field, send), this.modes);
    form.addEventListener("submit", (event) => { event.preventDefault(); void attempt(() => this.ask(this.field.value)); });
    this.field.addEventListener("input", () => this.grow());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.instead) this.unedit();
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.choices();
    return h("div", { class: "composer" }, form);
  }

  /** The note below a conversation of another user. */
  foreign() {
    return h("div", { class: "composer" }, h("form", {}, h("p", { class: "row" }, "This conversation belongs to somebody else; you can only read it.",
      h("a", { class: "button main", href: `/?collection=${encodeURIComponent(this.collections[0] ?? "")}` }, "Ask something yourself"))));
  }

  /** The choice of the system and of the collections. */
  choices() {
    const { start } = this.app;
    const modes = ["fast", "thorough", "search"];
    const mode = start.model ? localStorage.getItem(MODE) ?? "fast" : "search";
    /** @type {[string, string][]} */
    const options = [["search", "Search only"]];
    if (start.model) options.unshift(["fast", "Fast"], ["thorough", "Thorough"]);
    if (!modes.includes(mode)) options.push([mode, mode]);
    options.push(["more", "Advanced …"]);
    const field = select(options, options.some(([value]) => value === mode) ? mode : options[0]?.[0] ?? "", async (value) => {
      const choice = value === "more" ? await this.advanced() : value;
      if (choice) localStorage.setItem(MODE, choice);
      this.choices();
    }, { "aria-label": "How it is answered" });
    this.mode = field;
    fill(this.modes, field, h("span", { class: "quiet" }, `in ${this.collections.join(", ")}`),
      start.collections.length > 1 && button({ icon: "plus", label: "Choose collections", onclick: () => this.several() }),
      this.instead && h("span", { class: "row" }, "This is another version; the previous one is kept, with its later questions.", button({ title: "Cancel", onclick: () => this.unedit() })),
      this.id && !this.instead && h("span", { class: "row" }, button({ icon: "plus", title: "New", onclick: () => this.app.go("/") }),
        button({ icon: "edit", label: "Rename this conversation", onclick: () => this.rename() }),
        button({ icon: "bin", label: "Remove this conversation", onclick: () => this.remove() })));
  }

  /** All systems and retrievers, each with a description. */
  async advanced() {
    const { start } = this.app;
    const listed = [...(start.model ? start.systems : []), ...start.retrievers.map(({ name, meaning }) => ({ name: `search: ${name}`, meaning }))];
    return dialog("Advanced", (/** @type {(value: string) => void} */ close) => [
      h("p", { class: "hint" }, "Systems that answer, then retrievers that only search."),
      h("ul", { class: "systems" }, listed.map(({ name, meaning }) => h("li", {}, button({ title: name, onclick: () => close(name) }), h("p", { class: "hint" }, meaning))))]);
  }

  async several() {
    const names = this.app.start.collections;
    const selection = await dialog("Collections to ask", (/** @type {(value: string[]) => void} */ close) => {
      const boxes = names.map((name) => h("input", { type: "checkbox", value: name, checked: this.collections.includes(name) }));
      return [h("div", { class: "col" }, boxes.map((box) => h("label", { class: "row" }, box, box.value))),
        h("div", { class: "row end" }, button({ title: "Use these", kind: "main", onclick: () => close(boxes.filter((box) => box.checked).map((box) => box.value)) }))];
    });
    if (!selection?.length) return;
    this.collections = selection;
    this.choices();
    if (this.shown.length === 0) await this.hello();
  }

  /** @param {Turn} turn */
  edit(turn) {
    this.instead = turn.id;
    this.field.value = turn.question;
    this.grow();
    this.choices();
    this.field.focus();
  }

  unedit() {
    this.instead = "";
    this.field.value = "";
    this.grow();
    this.choices();
  }

  grow() {
    sessionStorage.setItem(this.draft, this.field.value);
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight + 2}px`;
  }

  async rename() {
    const title = await dialog("Rename this conversation", (/** @type {(value: string) => void} */ close) => {
      const field = h("input", { type: "text", maxLength: 200, "aria-label": "Name", placeholder: this.shown[0]?.turn.question ?? "" });
      const form = h("form", { class: "col" }, field, h("div", { class: "row end" }, button({ title: "Rename", kind: "main", type: "submit" })));
      form.addEventListener("submit", (event) => { event.preventDefault(); close(field.value); });
      return [form];
    });
    if (title === undefined) return;
    await call("PATCH", address(["conversations", this.id]), { title });
    await this.app.history();
  }

  async remove() {
    if (!await agreed("Remove this conversation?", "This deletes its questions and answers, also for people who have its address.", "Remove", true)) return;
    await remove(address(["conversations", this.id]));
    await this.app.history();
    this.app.go("/");
  }

  /** Ask, and show the events. @param {string} text @param {string} [named] a system, or "search: RETRIEVER" */
  async ask(text, named = "") {
    const question = text.trim();
    if (!question || this.asking) return;
    this.field.value = text; // it stays until it is asked, also when the session is over
    this.grow();
    if (question.length > LONGEST) return this.tooLong(question);
    this.asking = true;
    try {
      await this.asked(question, named);
    } finally {
      this.asking = false;
    }
  }

  /** Explain an error that means there is nothing to search. @param {{kind: string, message: string, remedy: string}} error */
  async refused(error) {
    const infos = error.kind === "NotFoundError" ? await Promise.all(this.collections.map((name) => get(address(["collections", name])))) : [];
    if (!infos.length || infos.some(({ counts }) => counts.Passage)) throw error;
    const add = { title: "Add documents", does: () => this.app.go("/library") };
    say(`${error.message} ${error.remedy}`, this.app.may("write") ? { action: add, seconds: 20 } : {});
  }

  /** Keep a text that is too long in the field, and offer to add it as a document. @param {string} text */
  tooLong(text) {
    const { app } = this, [collection = ""] = this.collections, now = new Date().toISOString().slice(0, 16).replace(":", ".");
    const add = () => upload(app, collection, [{ file: new File([text], `Text of ${now}.txt`), name: `Text of ${now}.txt` }]);
    say(`This has ${count(text.length)} characters, and a question has ${count(LONGEST)} at most. Shorten it, or add it to ${collection} as a document, and ask about that.`,
      { error: true, ...(app.may("write") ? { action: { title: "Add as a document", does: add } } : {}), seconds: 60 });
  }

  /** @param {string} question @param {string} named */
  async asked(question, named) {
    const { start } = this.app, mode = named || this.mode?.value || "fast";
    /** @type {Record<string, string>} */
    const how = mode === "fast" || mode === "thorough" ? { system: start[mode] } : mode === "search" ? { retriever: start.search }
      : mode.startsWith("search: ") ? { retriever: mode.slice(8) } : { system: mode };
    if (this.collections.length > 1 && mode === "thorough") delete how["system"];
    const request = { collections: this.collections, question, ...how, ...(this.id ? { conversation: this.id } : {}), instead: this.instead };
    const turn = await post(address(["turns"]), request).catch((error) => this.refused(error));
    if (!turn) return;
    if (this.instead) {
      const before = this.instead, from = this.shown.findIndex((one) => one.turn.id === before), old = this.shown.splice(Math.max(0, from));
      for (const one of old) document.getElementById(`turn-${one.turn.id}`)?.remove();
      if (old.length > 1) say("Later questions stay with the previous version.", { action: { title: "Undo", does: () => this.version(before) }, seconds: 20 });
    }
    if (this.shown.length === 0) fill(this.turns);
    this.unedit();
    const first = !this.id;
    this.id = turn.conversation;
    /** @type {Shown} */
    const item = { turn, mine: true, answer: null, steps: [], sources: [], notes: [], hops: [], follow_ups: [] };
    this.shown.push(item);
    if (first) this.app.go(`/ask/${turn.conversation}`, { quiet: true });
    this.app.title(this.shown[0]?.turn.question ?? "");
    this.field.placeholder = "Ask on";
    this.choices();
    const { view, follow_ } = this.put(item);
    this.away = false;
    view.element.scrollIntoView({ block: "start" });
    if (!NARROW.matches && !this.pane.dismissed) this.pane.wait();
    void this.app.history();
    void attempt(follow_);
  }
}
