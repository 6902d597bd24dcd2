// The Library: the content of collections, uploads and deletions, problems, and work on them.
import { address, get, post, remove } from "./api.js";
import { attempt, button, count, counted, dialog, empty, field, fill, h, icon, say, when } from "./dom.js";
import { duplicates } from "./duplicates.js";
import { badge, into, isOver, pause, workTab } from "./jobs.js";
import { acceptDrops, dropZone, news, picked, sentBefore, sentence, upload, uploadPanels } from "./upload.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./jobs.js").Job} Job */
/** @typedef {import("./upload.js").Named} Named */
/** @typedef {{key: string, title: string, source: string, passages: number, pages: number, tables: number, updated: string, file: string,
 *   problems: string[], held: boolean}} Listed */
/** @typedef {{name: string, embedder: string, dimension: number, counts: Record<string, number>, finished: boolean, kind: string}} Info */
/**
 * @typedef {{name: string, level: "error" | "warning" | "note", number: number, message: string, remedy: string, examples: string[]}}
 *   Finding
 */

const PAGE = 100, TOGETHER = 100, ADDRESS = 6000; // documents of a page; keys, and characters, of a request
const UNDO = 60; // seconds before documents go
const WATCHING = 5000, LOOKING = 1000; // milliseconds between questions how the watched folder is
const TYPING = 250; // milliseconds
/** @type {[string, string][]} */
const TABS = [["documents", "Documents"], ["problems", "Problems"], ["work", "Work"], ["names", "Names"], ["collections", "Collections"]];

/** @param {HTMLElement} view @param {App} app */
export async function show(view, app) {
  const tab = TABS.find(([name]) => name === app.query.get("tab"))?.[0] ?? "documents";
  const body = h("div", { class: "col library-tab" }), head = h("div", { class: "page-head" }, h("h1", {}, "Library"), counts(app));
  const cover = h("div", { class: "drop-cover", "aria-hidden": "true" }, h("div", {}, icon("upload"),
    h("p", { class: "empty-title" }, `Drop to add to ${app.collection || "default"}`)));
  fill(view, h("div", { class: "page-body" }, head, 
    tabs("Library", TABS, tab, (name) => name === "documents" ? "/library" : `/library?tab=${name}`),
    uploadPanels(app, tab === "documents"), body), cover);
  app.title(tab === "documents" ? "Library" : `${TABS.find(([name]) => name === tab)?.[1]} · Library`);
  news.addEventListener("read", (event) => {
    const { collection, fresh } = /** @type {CustomEvent<{collection: string, fresh: boolean}>} */ (event).detail;
    if (fresh) look(app, collection);
  }, { signal: app.signal });
  if (app.may("write")) acceptDrops(document, cover, (files) => upload(app, app.collection || "default", files), app.signal);
  if (!app.collection && tab !== "collections") return fill(body, nothingYet(app));
  if (tab === "documents") {
    const documents = h("div", { class: "col" }), folder = h("div", {});
    fill(body, folder, documents);
    void attempt(() => watchedFolder(app, folder));
    return new Documents(app, documents).begin();
  }
  if (tab === "problems") return into(body, app.signal, () => problemsTab(app));
  if (tab === "work") return fill(body, workTab(app));
  if (tab === "names") return fill(body, duplicates(app));
  return into(body, app.signal, () => collectionsTab(app));
}

/**
 * Links to the parts of a page.
 * @param {string} title
 * @param {[string, string][]} parts
 * @param {string} now
 * @param {(name: string) => string} to
 */
export function tabs(title, parts, now, to) {
  const bar = h("nav", { class: "tabs", "aria-label": title },
    parts.map(([name, label]) => h("a", { href: to(name), "aria-current": name === now && "page" }, label)));
  queueMicrotask(() => bar.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  return bar;
}

/** The content of the collection, at the top of the page. @param {App} app */
function counts(app) {
  const note = h("p", { class: "quiet" });
  const look = () => void get(address(["collections", app.collection]), app.signal)
    .then((info) => { note.textContent = holds(info); }, () => {});
  if (!app.collection) return note;
  news.addEventListener("read", look, { signal: app.signal });
  look();
  return note;
}

/** @param {Info} info */
function holds({ counts: numbers }) {
  /** @type {[string, string, string][]} */
  const names = [["Document", "document", "documents"], ["Passage", "passage", "passages"], ["Entity", "name", "names"],
    ["Triple", "fact", "facts"]];
  return names.filter(([label], at) => at < 2 || numbers[label]).map(([label, one, more]) => counted(numbers[label] ?? 0, one, more)).join(" · ");
}

/** @param {App} app @param {string} collection */
function look(app, collection) {
  app.go(`/library?collection=${encodeURIComponent(collection)}`);
}

/** @param {App} app */
function nothingYet(app) {
  if (!app.may("write")) return empty("There is nothing here yet", "Your key may only read. The operator of the server can add documents.");
  return addTo(app, "default");
}

/** A drop zone for files, with the name of the collection. @param {App} app @param {string} named @param {boolean} [fixed] */
function addTo(app, named, fixed = false) {
  const name = h("input", { type: "text", value: named, maxLength: 200, autocomplete: "off", required: true,
    placeholder: "For example: reports" });
  return dropZone((files) => {
    const collection = name.value.trim();
    if (!/^[^/\\\u0000-\u001f]+$/.test(collection) || collection === "." || collection === "..") {
      name.focus();
      return say("Give the collection a name first, without / and \\.", { error: true });
    }
    if (files.length > 0) upload(app, collection, files);
  }, fixed ? h("span", {}) : h("div", { class: "drop-name" }, field("Collection", name)));
}

// ----- the watched folder

/**
 * @typedef {{folder: string | null, present: boolean, looked: string, looking: string, documents: number, unsettled: number,
 *   failed: number, problems: {place: string, message: string}[], error: string}} Watched
 */

/** The state of the watched folder of the collection, updated while the page is open. @param {App} app @param {HTMLElement} box */
async function watchedFolder(app, box) {
  const { collection, signal } = app;
  for (let before = ""; !signal.aborted;) {
    const state = /** @type {Watched} */ (await get(address(["collections", collection, "watched"]), signal));
    if (state.folder === null) return;
    const now = JSON.stringify(state);
    if (now !== before) {
      fill(box, watchedPanel(app, state));
      if (before && state.looked !== JSON.parse(before).looked) news.dispatchEvent(new CustomEvent("read", { detail: { collection, fresh: false } }));
      before = now;
    }
    await pause(state.looking ? LOOKING : WATCHING, signal);
  }
}

/** @param {App} app @param {Watched} state */
function watchedPanel(app, state) {
  const look = button({ title: "Look now", icon: "again", kind: "line", disabled: state.looking !== "", onclick: async () => {
    look.disabled = true;
    await post(address(["collections", app.collection, "jobs"]), { kind: "watched" });
  } });
  const facts = [state.looking ? "looking now" : state.looked ? `last looked at ${when(state.looked)}` : "not looked at yet",
    state.looked && counted(state.documents, "document"),
    state.unsettled > 0 && `${counted(state.unsettled, "file")} still being written`, state.failed > 0 && `${count(state.failed)} failed`].filter(Boolean).join(", ");
  return h("section", { class: "panel col", "aria-label": "Watched folder" },
    h("div", { class: "row" }, icon("folder"), h("p", { class: "grow text" }, h("span", { class: "strong" }, `Watched folder: ${state.folder}`), `, ${facts}`),
      app.may("write") && look),
    !state.present && h("p", { class: "quiet", role: "alert" }, "The folder is missing. The operator of the server can mount or create it."),
    state.present && state.error && h("p", { class: "quiet", role: "alert" }, state.error),
    state.problems.length > 0 && h("details", {}, h("summary", {}, counted(state.problems.length, "problem")), h("ul", { class: "plain small" },
      state.problems.map(({ place, message }) => h("li", { class: "text" }, `${place}: ${sentence(message)}`)))));
}

// ----- documents

class Documents {
  /** @param {App} app @param {HTMLElement} body */
  constructor(app, body) {
    this.app = app;
    this.body = body;
    this.search = "";
    /** @type {string | null} */
    this.after = "";
    /** @type {Set<string>} */
    this.chosen = new Set();
    /** @type {Map<string, HTMLTableRowElement>} */
    this.rows = new Map();
    /** @type {Set<string>} */
    this.leaving = new Set();
    this.asking = new AbortController();
    this.write = app.may("write");
    this.waiting = h("div", { class: "col" });
    this.bulk = h("div", { class: "row bulk", role: "status" });
    this.all = h("input", { type: "checkbox", "aria-label": "Choose all shown", onchange: () => this.chooseAll(this.all.checked) });
    this.lines = h("tbody", {});
    this.more = h("div", { class: "row more" });
    this.said = h("p", { class: "unseen", role: "status" });
    this.box = h("div", { class: "col" });
  }

  async begin() {
    const { signal } = this.app;
    await into(this.body, signal, async () => {
      const page = await this.listed("");
      return page.documents.length === 0 && !this.search ? this.none() : this.full(page);
    });
    news.addEventListener("read", (event) => {
      if (/** @type {CustomEvent} */ (event).detail.collection === this.app.collection) void attempt(() => this.again());
    }, { signal });
    if (this.write) void attempt(() => this.findLeaving());
  }

  /** @param {string} after @returns {Promise<{documents: Listed[], after: string | null}>} */
  listed(after) {
    this.asking.abort();
    this.asking = new AbortController();
    const signal = AbortSignal.any([this.asking.signal, this.app.signal]);
    return get(address(["collections", this.app.collection, "documents"], { search: this.search, after, limit: PAGE }), signal);
  }

  none() {
    if (this.write) return addTo(this.app, this.app.collection, true);
    return empty("This collection is empty", "Your key may only read. The operator of the server can add documents.");
  }

  /** @param {{documents: Listed[], after: string | null}} page */
  full(page) {
    let timer = 0;
    const find = h("input", { type: "search", placeholder: "Search titles", "aria-label": "Search titles and names of files",
      value: this.search });
    find.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { this.search = find.value.trim(); void attempt(() => this.again()); }, TYPING);
    });
    const { app } = this, add = (/** @type {Named[]} */ files) => files.length > 0 && upload(app, app.collection, files);
    fill(this.box, h("div", { class: "row" }, h("div", { class: "grow" }, find),
      this.write && button({ title: "Add files", icon: "upload", kind: "main", onclick: async () => add(await picked()) }),
      this.write && button({ title: "Add a folder", icon: "folder", kind: "line",
        onclick: async () => add(await picked({ folder: true })) })),
    !this.write && h("p", { class: "hint" }, "Your key may only read: you can open documents, but not add or delete them."),
    this.waiting, this.bulk, this.said,
    h("div", { class: "table-box" }, h("table", { class: "documents" },
      h("thead", {}, h("tr", {}, this.write && h("th", { class: "tight" }, this.all), h("th", {}, "Document"),
        ["Pages", "Passages", "Tables"].map((name) => h("th", { class: "number wide" }, name)),
        h("th", {}, "State"), h("th", { class: "wide" }, "Updated"),
        h("th", { class: "tight" }, h("span", { class: "unseen" }, "Actions")))),
      this.lines)), this.more);
    this.fresh(page);
    return this.box;
  }

  /** List again from the start. */
  async again() {
    if (!this.box.isConnected) return this.app.go("/library");
    this.fresh(await this.listed(""));
  }

  /** @param {{documents: Listed[], after: string | null}} page */
  fresh(page) {
    this.rows.clear();
    fill(this.lines);
    this.chosen.clear();
    this.append(page);
    if (page.documents.length > 0) return;
    fill(this.lines, h("tr", {}, h("td", { colSpan: 8 }, this.search
      ? empty("Nothing fits", `No title or name of a file has “${this.search}”.`)
      : empty("No documents", "Add files, or drop them anywhere on this page."))));
  }

  /** @param {{documents: Listed[], after: string | null}} found */
  append({ documents, after }) {
    for (const entry of documents) {
      const row = this.row(entry);
      this.rows.set(entry.key, row);
      this.lines.append(row);
    }
    this.after = after;
    fill(this.more, after !== null && button({ title: "More", icon: "down", kind: "line",
      onclick: async () => this.append(await this.listed(after)) }),
      h("span", { class: "hint" }, `${counted(this.rows.size, "document")} shown`));
    this.said.textContent = `${counted(this.rows.size, "document")} shown`;
    this.drawBulk();
  }

  /** @param {Listed} entry */
  row(entry) {
    const { collection } = this.app, title = entry.title || entry.key,
      to = `/document/${encodeURIComponent(collection)}/${encodeURIComponent(entry.key)}`;
    const tick = h("input", { type: "checkbox", "aria-label": `Choose ${title}`, onchange: () => this.choose(entry.key, tick.checked) });
    return h("tr", { class: this.leaving.has(entry.key) ? "leaving" : "" }, this.write && h("td", { class: "tight" }, tick),
      h("td", { class: "title" }, h("a", { href: to, dir: "auto" }, title),
        entry.key !== title && h("p", { class: "hint", dir: "auto" }, entry.key),
        entry.problems.length > 0 && h("details", {}, h("summary", {}, counted(entry.problems.length, "problem")),
          h("ul", { class: "plain small" }, entry.problems.map((one) => h("li", { class: "text" }, one))))),
      h("td", { class: "number wide" }, entry.pages ? count(entry.pages) : "–"), h("td", { class: "number wide" }, count(entry.passages)),
        h("td", { class: "number wide" }, entry.tables ? count(entry.tables) : "–"),
      h("td", {}, stateOf(entry)), h("td", { class: "wide nowrap" }, when(entry.updated)),
      h("td", { class: "tight" }, h("div", { class: "row-actions" },
        h("a", { class: "button bare wide", href: to, "aria-label": `Open ${title}`, title: "Open" }, icon("right")),
        this.write && button({ icon: "replace", label: `Replace ${entry.file || title}`, onclick: () => this.replace(entry) }),
        this.write && button({ icon: "bin", label: `Delete ${title}`, onclick: () => this.leave([entry.key]) }))));
  }

  /** Replace the file of a document. @param {Listed} entry */
  async replace(entry) {
    const name = entry.file || entry.key, ending = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0]?.toLowerCase() ?? "";
    const [file] = await picked({ one: true, accept: ending });
    if (!file) return;
    if (ending && !file.name.toLowerCase().endsWith(ending)) {
      return say(`Choose a file that ends with ${ending}. To add another kind of file, use “Add files”.`, { error: true });
    }
    upload(this.app, this.app.collection, [{ file: file.file, name }]);
  }

  /** @param {string} key @param {boolean} on */
  choose(key, on) {
    if (on) this.chosen.add(key);
    else this.chosen.delete(key);
    this.drawBulk();
  }

  /** @param {boolean} on */
  chooseAll(on) {
    for (const [key, row] of this.rows) {
      const tick = row.querySelector("input");
      if (tick) tick.checked = on;
      if (on) this.chosen.add(key);
      else this.chosen.delete(key);
    }
    this.drawBulk();
  }

  drawBulk() {
    const number = this.chosen.size;
    this.all.checked = number > 0 && number === this.rows.size;
    this.all.indeterminate = number > 0 && number < this.rows.size;
    this.bulk.hidden = number === 0;
    fill(this.bulk, number > 0 && [h("span", { class: "strong" }, `${count(number)} chosen`),
      button({ title: "Delete", icon: "bin", kind: "danger", onclick: () => this.leave([...this.chosen]) }),
      button({ title: "Choose none", onclick: () => this.chooseAll(false) })]);
  }

  /** Delete documents after a minute. @param {string[]} keys */
  async leave(keys) {
    this.fade(keys, true);
    this.chooseAll(false);
    /** @type {Job[]} */
    const jobs = [];
    try {
      for (const part of parts(keys)) jobs.push(await remove(address(["collections", this.app.collection, "documents"],
        { key: part, seconds: UNDO })));
    } catch (error) {
      this.fade(keys.slice(jobs.reduce((sum, job) => sum + job.parameters["documents"].length, 0)), false);
      throw error;
    } finally {
      if (jobs.length > 0) void attempt(() => this.watch(jobs));
    }
  }

  /** Resume deletions that were pending when the page was left. */
  async findLeaving() {
    const { jobs } = await get(address(["jobs"], { collection: this.app.collection, state: "queued", limit: 100 }), this.app.signal);
    const deleting = /** @type {Job[]} */ (jobs).filter((job) => job.kind === "delete" && job.parameters["documents"]);
    for (const job of deleting) void attempt(async () => this.watch([await get(address(["jobs", job.id]), this.app.signal)]));
  }

  /** Announce a deletion, with an undo until it starts. @param {Job[]} jobs */
  async watch(jobs) {
    const keys = jobs.flatMap((job) => /** @type {string[]} */ (job.parameters["documents"])), number = keys.length === 1 ? `“${keys[0]}”` : `“${keys[0]}” and ${counted(keys.length - 1, "other document")}`;
    const end = Math.max(...jobs.map((job) => Date.parse(job.begins || job.created))), { signal } = this.app;
    this.fade(keys, true);
    let undone = false;
    const undo = button({ title: "Undo", icon: "again", kind: "line", onclick: async () => {
      undo.disabled = undone = true;
      const now = /** @type {Job[]} */ (await Promise.all(jobs.map((job) => remove(address(["jobs", job.id])))));
      if (now.some((job) => job.state === "done")) say("Some were already deleted.", { error: true });
      note.remove();
      this.fade(keys, false);
      await this.again();
    } });
    const text = h("span", { "aria-hidden": "true" }), note = h("div", { class: "panel row note-row", role: "status" }, icon("bin"),
      h("span", { class: "unseen" }, `${number} will be deleted in a minute.`), text, h("span", { class: "space" }), undo);
    this.waiting.append(note);
    while (!signal.aborted && !undone && Date.now() < end) {
      text.textContent = `${number} will be deleted in ${Math.ceil((end - Date.now()) / 1000)} s`;
      await pause(1000, signal);
    }
    if (!undone) {
      text.textContent = `${number} ${keys.length === 1 ? "is" : "are"} being deleted`;
      undo.remove();
    }
    while (!signal.aborted && !undone) {
      await pause(1500, signal);
      const now = /** @type {Job[]} */ (await Promise.all(jobs.map((job) => get(address(["jobs", job.id]), signal))));
      if (!now.every(isOver)) continue;
      note.remove();
      news.dispatchEvent(new CustomEvent("read", { detail: { collection: this.app.collection, fresh: false } }));
      this.fade(keys, false);
      const failed = now.find((job) => job.state === "failed");
      if (failed) say(`${failed.error} ${failed.remedy}`, { error: true });
      return;
    }
  }

  /** @param {string[]} keys @param {boolean} on */
  fade(keys, on) {
    for (const key of keys) {
      if (on) this.leaving.add(key);
      else this.leaving.delete(key);
      this.rows.get(key)?.classList.toggle("leaving", on);
    }
  }
}

/** @param {Listed} entry */
function stateOf(entry) {
  return h("div", { class: "states" }, entry.problems.length > 0 ? badge("Problem", "warn", "warn") : badge("Read", "ok", "check"),
    entry.held && h("span", { class: "hint nowrap", title: "The server keeps the original file." }, "File kept"));
}

/** Split keys by the limits of a request. @param {string[]} keys */
function parts(keys) {
  /** @type {string[][]} */
  const problems = [];
  let length = ADDRESS;
  for (const key of keys) {
    length += encodeURIComponent(key).length + 5;
    const last = problems.at(-1);
    if (last && last.length < TOGETHER && length <= ADDRESS) last.push(key);
    else {
      problems.push([key]);
      length = encodeURIComponent(key).length + 5;
    }
  }
  return problems;
}

// ----- problems

/** @param {App} app */
async function problemsTab(app) {
  const [inspection, { jobs }] = await Promise.all([get(address(["collections", app.collection, "inspect"]), app.signal),
    get(address(["jobs"], { collection: app.collection, limit: 50 }), app.signal)]);
  const files = fileProblems(app.collection, jobs), findings = /** @type {Finding[]} */ (inspection.findings);
  const list = h("ul", { class: "works-off" }, files.map((one) => fileProblem(app, one)));
  return [files.length > 0 ? h("h2", {}, "Files that could not be read") : false, list, h("h2", {}, "The collection"),
    findings.length > 0 ? h("div", { class: "col" }, findings.map((one) => findingPanel(app, one, app.collection)))
      : empty("All is well", "Nothing is broken, and no work is pending.")].filter((one) => one instanceof Node);
}

/** @typedef {{place: string, message: string, ended: string}} FileProblem */

const setAside = (/** @type {string} */ collection) => `kgrag-dismissed-${collection}`;

/** @param {string} collection @returns {string[]} */
function dismissed(collection) {
  return JSON.parse(localStorage.getItem(setAside(collection)) ?? "[]");
}

/**
 * The problems of each file in its newest job, without dismissed ones.
 * @param {string} collection
 * @param {Job[]} jobs the newest first
 */
function fileProblems(collection, jobs) {
  const aside = new Set(dismissed(collection)), seen = new Set();
  /** @type {FileProblem[]} */
  const problems = [];
  for (const job of jobs) {
    if (!["ingest", "delete"].includes(job.kind) || !isOver(job) || job.state === "cancelled") continue;
    for (const { place, message } of job.result["problems"] ?? []) {
      if (!seen.has(fileOf(place)) && !aside.has(`${place}\n${message}\n${job.ended}`)) problems.push({ place, message, ended: job.ended });
    }
    for (const name of job.parameters["uploads"] ?? job.parameters["documents"] ?? []) seen.add(name);
  }
  return problems;
}

/** @param {string} place "a.csv:12" */
const fileOf = (place) => place.replace(/[:#]\d+$/, "");

/** @param {App} app @param {FileProblem} its */
function fileProblem(app, { place, message, ended }) {
  const name = fileOf(place), line = h("li", { class: "panel row" }, icon("warn"),
    h("div", { class: "grow" }, h("p", { class: "strong text" }, place), h("p", {}, sentence(message)),
      h("p", { class: "hint" }, when(ended))));
  const again = async () => {
    const before = sentBefore(app.collection, name), file = before?.file ?? (await picked({ one: true }))[0]?.file;
    if (file) upload(app, app.collection, [{ file, name }]);
  };
  const aside = () => {
    localStorage.setItem(setAside(app.collection), JSON.stringify([...dismissed(app.collection).slice(-2000),
      `${place}\n${message}\n${ended}`]));
    line.remove();
  };
  line.append(h("div", { class: "row" }, app.may("write") ? button({ title: "Send it again", icon: "again", kind: "line",
    label: `Send it again: ${name}`, onclick: again }) : "",
    button({ title: "Dismiss", label: `Dismiss: ${place}`, onclick: aside })));
  return line;
}

/** @type {Record<Finding["level"], [string, string, string]>} */
const LEVELS = { error: ["Broken", "wrong", "error"], warning: ["Work is left", "warn", "warn"], note: ["Worth a look", "", "search"] };
/** The page that fixes a finding: prefix of its name, the tab and the button. @type {[RegExp, string, string][]} */
const HELP = [[/^names to merge/, "names", "Look at the names"], [/^(not )?(extracted|tagged)|^reports out of date/, "work", "Go to Work"]];

/** @param {App} app @param {Finding} finding @param {string} collection */
export function findingPanel(app, finding, collection) {
  const [title, kind, symbol] = LEVELS[finding.level], help = collection === app.collection && HELP.find(([name]) => name.test(finding.name));
  const command = /\bkgrag [a-z]|Neo4j/.test(finding.remedy), nothing = /^Nothing is to be done/.test(finding.remedy);
  const remedy = command && !app.may("admin") ? "The operator of the server can fix this." : finding.remedy;
  return h("section", { class: "panel col finding", "aria-label": finding.name }, h("div", { class: "row" },
    badge(nothing ? "Good to know" : title, kind, nothing ? "check" : symbol), h("p", { class: "grow" }, finding.message),
    help && h("a", { class: "button line", href: `/library?tab=${help[1]}` }, help[2])),
  !help && h("p", { class: "quiet" }, withCode(remedy)),
  finding.examples.length > 0 && h("details", {}, h("summary", {}, "Examples"), h("ul", { class: "plain small" },
    finding.examples.map((one) => h("li", { class: "text" }, one)))));
}

/** A text with its commands, in backquotes or after a colon, as code. @param {string} text */
function withCode(text) {
  return text.replace(/: (kgrag [a-z].*)$/, ": `$1`").split("`").map((part, at) => at % 2 === 1 ? h("code", {}, part) : part);
}

// ----- collections

/** @param {App} app */
async function collectionsTab(app) {
  const { collections } = /** @type {{collections: Info[]}} */ (await get(address(["collections"]), app.signal));
  const visible = collections.filter(({ kind }) => kind === "documents").sort((one, other) => one.name.localeCompare(other.name));
  const fresh = h("section", { class: "panel col", hidden: true, "aria-label": "New collection" }, h("h2", {}, "New collection"),
    addTo(app, ""));
  const open = button({ title: "New collection", icon: "plus", kind: "main", onclick: () => {
    fresh.hidden = !fresh.hidden;
    if (!fresh.hidden) fresh.querySelector("input")?.focus();
  } });
  return [h("div", { class: "row" }, 
    h("p", { class: "quiet grow" }, "You search one collection at a time. All pages show the open one."),
    app.may("write") && open), fresh,
  visible.length > 0 ? h("div", { class: "cards" }, visible.map((info) => collectionCard(app, info)))
    : empty("No collections yet", "Adding files creates a collection.")];
}

/** @param {App} app @param {Info} info */
function collectionCard(app, info) {
  const open = info.name === app.collection;
  return h("section", { class: "panel col", "aria-label": info.name }, h("div", { class: "row" }, icon("folder"),
    h("h3", { class: "grow text" }, info.name), open && badge("Open", "on", "check")),
    h("p", { class: "quiet" }, holds(info)), h("p", { class: "hint grow" }, `Searched with ${info.embedder}`, !info.finished
      && ". Work on it is under way or was interrupted."),
    h("div", { class: "row" }, button({ title: "Open", kind: "line", label: `Open ${info.name}`, onclick: () => look(app, info.name) }),
      app.may("admin") && button({ title: "Delete", icon: "bin", kind: "danger", label: `Delete ${info.name}`, onclick: () => deleted(app,
        info) })));
}

/** Delete a collection after the visitor has typed its name. @param {App} app @param {Info} info */
async function deleted(app, info) {
  const yes = await dialog(`Delete ${info.name}?`, (/** @type {(yes: boolean) => void} */ close) => {
    const typed = h("input", { type: "text", autocomplete: "off", oninput: () => { go.disabled = typed.value !== info.name; } });
    const go = button({ title: "Delete it", kind: "danger", type: "submit", disabled: true });
    return [h("p", { class: "dialog-text" }, `${holds(info)}, and all files that were uploaded to it. This cannot be undone.`),
      h("form", { class: "col", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); if (!go.disabled) close(true); } },
        field(`Type ${info.name} to delete it`, typed), h("div", { class: "row end" },
          button({ title: "Not now", onclick: () => close(false) }), go))];
  });
  if (!yes) return;
  let job = /** @type {Job} */ (await remove(address(["collections", info.name])));
  say(`${info.name} is being deleted.`);
  while (!isOver(job) && !app.signal.aborted) {
    await pause(700, app.signal);
    job = await get(address(["jobs", job.id]));
  }
  if (job.state === "failed") say(`${job.error} ${job.remedy}`, { error: true });
  await app.begin();
  if (!app.signal.aborted) app.go("/library?tab=collections");
}
