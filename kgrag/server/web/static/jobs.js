// Jobs: the background work of the server, its progress, and the work that can be started on a collection.
import { address, get, post, remove } from "./api.js";
import { attempt, button, count, counted, dialog, empty, fill, h, icon, loading, problem, words, when } from "./dom.js";

/** @typedef {import("./app.js").App} App */
/**
 * See kgrag/graph/jobs.py. `result` depends on the kind.
 * @typedef {{id: string, kind: string, collection: string, parameters: Record<string, any>, state: State, stage: string, done: number,
 *   total: number | null, error: string, remedy: string, result: Record<string, any>, owner: string, created: string, started: string,
 *   ended: string, begins: string}} Job
 */
/** @typedef {"queued" | "running" | "done" | "failed" | "cancelled"} State */
/** @typedef {{kind: string, calls: number, tokens: number, cost: number | null, lines: string[]}} Estimate */
/**
 * The kinds of work on a collection.
 * @typedef {{kind: string, icon: string, title: string, does: string, asks: "always" | "if wanted"}} Work
 */

const OFTEN = 1000, SELDOM = 5000; // milliseconds between looks, while something goes on and while nothing does
const SHOWN = 20; // problems of one job
const NO_MODEL = "No language model is set up on this server.";

/** @type {Record<string, string>} */
const TITLES = {
  ingest: "Read files", extract: "Extract facts", tag: "Link to Wikipedia", resolve: "Link names", tree: "Build topics",
  communities: "Find communities", delete: "Delete", prune: "Delete documents without a file", watched: "Read the watched folder",
};
/** The words of a state, the class of its badge and its icon. @type {Record<State, [string, string, string]>} */
const STATES = {
  queued: ["Waiting", "", "clock"], running: ["Running", "on", "play"], done: ["Done", "ok", "check"],
  failed: ["Failed", "wrong", "error"], cancelled: ["Stopped", "", "stop"],
};
/** @type {Work[]} */
const WORKS = [
  { kind: "extract", icon: "edit", title: "Extract facts", asks: "always",
    does: "A language model reads each passage once and extracts its facts. This improves searches that follow facts." },
  { kind: "resolve", icon: "path", title: "Link names", asks: "if wanted",
    does: "Finds names of one entity, such as “Scott” and “Robert Falcon Scott”, and links them: a search for one finds both." },
  { kind: "tree", icon: "library", title: "Build topics", asks: "if wanted",
    does: "Groups passages by topic and summarises them, level by level, for questions about the whole collection." },
  { kind: "communities", icon: "graph", title: "Find communities", asks: "if wanted",
    does: "Finds groups of closely connected names, and writes a report on each." },
];

/**
 * Show the result of `load`, a spinner meanwhile, and an error with a retry if it fails.
 * @param {Element} box
 * @param {AbortSignal} signal
 * @param {() => Promise<Node | Node[]>} load
 */
export async function into(box, signal, load) {
  fill(box, loading());
  try {
    const content = await load();
    if (!signal.aborted) fill(box, content);
  } catch (error) {
    if (!signal.aborted) fill(box, problem(error, button({ title: "Try again", icon: "again", kind: "line", onclick: () => into(box, signal,
      load) })));
  }
}

/** Wait some milliseconds, or until the signal. @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>} */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/** A badge with an icon, so that its meaning does not depend on colour. @param {string} title @param {string} [kind] @param {string} [symbol] */
export function badge(title, kind = "", symbol = "") {
  return h("span", { class: `badge ${kind}` }, symbol && icon(symbol), title);
}

/** The speed of some work, from its progress in the last seconds. */
export class Pace {
  /** @type {[number, number][]} */
  #told = [];

  /** @param {number} done */
  at(done) {
    const now = performance.now(), last = this.#told.at(-1);
    if (last && done < last[1]) this.#told = [];
    if (!last || now - last[0] > 200) this.#told.push([now, done]);
    while (this.#told.length > 2 && now - (this.#told[0]?.[0] ?? now) > 20_000) this.#told.shift();
  }

  /** Units a second; 0 if unknown. */
  get rate() {
    const first = this.#told[0], last = this.#told.at(-1);
    return first && last && last[0] - first[0] > 1500 ? (last[1] - first[1]) / (last[0] - first[0]) * 1000 : 0;
  }

  /** The remaining time in words; "" if unknown. @param {number} rest */
  left(rest) {
    return this.rate > 0 && rest > 0 ? `${span(rest / this.rate)} left` : "";
  }
}

/** An estimated time in words. @param {number} seconds */
export function span(seconds) {
  if (seconds < 55) return `about ${Math.max(5, Math.ceil(seconds / 5) * 5)} s`;
  return seconds < 3300 ? `about ${Math.ceil(seconds / 60)} min` : `about ${counted(Math.round(seconds / 3600), "hour")}`;
}

/** @param {Job} job */
export const isOver = (job) => job.state !== "queued" && job.state !== "running";

/**
 * The jobs of a collection or of all, updated until the page is left.
 * @param {App} app
 * @param {string} [collection]
 */
export function jobList(app, collection = "") {
  return new JobList(app, collection).element;
}

class JobList {
  /** @param {App} app @param {string} collection */
  constructor(app, collection) {
    this.app = app;
    this.collection = collection;
    /** @type {Map<string, JobRow>} */
    this.rows = new Map();
    this.list = h("ol", { class: "jobs" });
    this.told = h("div", {});
    this.element = h("div", { class: "col", "aria-busy": "true" }, this.told, this.list);
    fill(this.told, loading());
    void this.watch();
  }

  /** @param {Record<string, string | number>} query @returns {Promise<Job[]>} */
  async listed(query) {
    return (await get(address(["jobs"], { collection: this.collection, ...query }), this.app.signal)).jobs;
  }

  async watch() {
    const { signal } = this.app;
    let open = -1; // how many are not over; -1 where all are to be read
    while (!signal.aborted) {
      try {
        open = await this.look(open);
        await pause(open > 0 ? OFTEN : SELDOM, signal);
      } catch (error) {
        if (signal.aborted) return;
        fill(this.told, problem(error, h("span", { class: "quiet" }, "kgrag will try again.")));
        open = -1;
        await pause(SELDOM, signal);
      }
      while (document.hidden && !signal.aborted) await pause(OFTEN, signal);
    }
  }

  /** @param {number} open @returns {Promise<number>} */
  async look(open) {
    const unended = open < 0 ? [] : [...await this.listed({ state: "running" }), ...await this.listed({ state: "queued", limit: 100 })];
    const ids = [...this.rows.values()].filter((row) => !isOver(row.job)).map((row) => row.job.id);
    const same = open >= 0 && unended.length === ids.length && unended.every((job) => ids.includes(job.id));
    const jobs = same ? unended : await this.listed({ limit: this.collection ? 20 : 50 });
    if (!same) this.order(jobs);
    for (const job of jobs) this.rows.get(job.id)?.update(job);
    this.element.removeAttribute("aria-busy");
    fill(this.told, this.rows.size === 0 && empty("No jobs yet",
      "Background jobs and their progress appear here."));
    return jobs.filter((job) => !isOver(job)).length;
  }

  /** @param {Job[]} jobs */
  order(jobs) {
    const rows = new Map(jobs.map((job) => [job.id, this.rows.get(job.id) ?? new JobRow(job, this.app, !this.collection)]));
    for (const [id, row] of this.rows) if (!rows.has(id)) row.element.remove();
    let before = null;
    for (const { element } of [...rows.values()].reverse()) {
      if (element.parentElement !== this.list || element.nextElementSibling !== before) this.list.insertBefore(element, before);
      before = element;
    }
    this.rows = rows;
  }
}

class JobRow {
  /** @param {Job} job @param {App} app @param {boolean} named whether the collection is told, too */
  constructor(job, app, named) {
    this.job = job;
    this.app = app;
    this.named = named;
    this.pace = new Pace();
    this.stopping = false;
    this.seen = "";
    this.stage = "";
    this.bar = h("progress", { max: 1, "aria-label": `${titleOf(job)}: how far it is` });
    this.how = h("p", { class: "hint" });
    this.element = h("li", { class: "panel job" });
  }

  /** @param {Job} job */
  update(job) {
    this.job = job;
    const seen = `${job.state} ${job.error} ${job.ended} ${this.stopping}`;
    if (seen !== this.seen) this.draw();
    this.seen = seen;
    if (job.state !== "running") return;
    if (job.stage !== this.stage) this.pace = new Pace();
    this.stage = job.stage;
    this.pace.at(job.done);
    if (job.total) Object.assign(this.bar, { max: job.total, value: job.done });
    else this.bar.removeAttribute("value");
    this.how.textContent = progressOf(job, this.pace);
  }

  draw() {
    const { job } = this, { state } = job, [title, kind, symbol] = STATES[state];
    const waits = state === "queued" && job.begins && new Date(job.begins) > new Date();
    fill(this.element,
      h("div", { class: "row" }, h("h3", {}, titleOf(job)), this.named && h("span", { class: "quiet" }, job.collection),
        this.stopping && !isOver(job) ? badge("Stopping", "warn", "stop") : badge(title, kind, symbol), h("span", { class: "space" }),
        h("span", { class: "hint" }, whenOf(job)), this.actions()),
      waits && h("p", { class: "hint" }, "It starts within a minute; until then you can undo it."),
      state === "queued" && !waits && h("p", { class: "hint" }, "It starts when the jobs before it are done."),
      state === "running" && this.bar, state === "running" && this.how,
      state === "failed" && h("p", {}, h("span", { class: "strong" }, job.error), " ", job.remedy),
      isOver(job) && resultOf(job));
  }

  actions() {
    const { job } = this, whole = job.kind === "delete" && !job.parameters["documents"];
    if (!this.app.may(whole ? "admin" : "write")) return null;
    const name = `${titleOf(job)} of ${job.collection}`;
    if (!isOver(job)) return button({ title: "Stop", icon: "stop", label: `Stop: ${name}`, disabled: this.stopping,
      onclick: () => this.stop() });
    if (job.state === "done" || (job.state === "cancelled" && job.kind === "delete")) return null; // what was undone is not done at a touch
    return button({ title: job.state === "failed" ? "Try again" : "Go on", icon: "again", label: `Go on: ${name}`,
      onclick: () => this.retry() });
  }

  async stop() {
    this.stopping = true;
    this.update(this.job);
    try {
      this.update(await remove(address(["jobs", this.job.id])));
    } catch (error) {
      this.stopping = false;
      this.update(this.job);
      throw error;
    }
  }

  async retry() {
    this.stopping = false;
    this.update(await post(address(["jobs", this.job.id, "retry"]), {}));
  }
}

/** @param {Job} job */
export function titleOf(job) {
  const documents = job.parameters["documents"], uploads = job.parameters["uploads"];
  if (job.kind === "delete") return documents ? `Delete ${counted(documents.length, "document")}` : "Delete the collection";
  if (job.kind === "ingest" && uploads) return `Read ${counted(uploads.length, "file")}`;
  return TITLES[job.kind] ?? job.kind;
}

/** @param {Job} job */
function whenOf(job) {
  const by = job.owner && job.owner !== "local" ? `, ${job.owner}` : "";
  if (!job.ended || !job.started) return `${when(job.created)}${by}`;
  const seconds = (Date.parse(job.ended) - Date.parse(job.started)) / 1000;
  const took = seconds < 1 ? "less than 1 s" : seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
  return `${when(job.ended)}, took ${took}${by}`;
}

/** @param {Job} job @param {Pace} pace */
export function progressOf(job, pace) {
  if (!job.stage) return "Beginning";
  const file = /^seconds for (.*?)(?: \([^()]*\))?$/.exec(job.stage)?.[1];
  if (file) return `reading ${file}, ${count(job.done)} s`;
  const of = job.total === null ? "" : ` of ${count(job.total)}`;
  const rate = pace.rate >= 0.1 ? `${pace.rate < 10 ? pace.rate.toFixed(1) : count(Math.round(pace.rate))} a second` : "";
  return [`${count(job.done)}${of} ${job.stage}`, rate, job.total === null ? "" : pace.left(job.total - job.done)].filter(Boolean).join(" · ");
}

/** The result of a job in words. @param {Job} job */
function resultOf(job) {
  const result = job.result, problems = /** @type {{place: string, message: string}[]} */ (result["problems"] ?? []);
  const failures = /** @type {{document: string, title: string, reason: string}[]} */ (result["failures"] ?? []);
  const failed = [...problems.map(({ place, message }) => `${place}: ${message}`),
    ...failures.map((one) => `${one.title || one.document}: ${one.reason}`)];
  const words = [resultWords(job), usageWords(result["usage"])].filter(Boolean).join(" ");
  return [words && h("p", {}, words), failed.length > 0 && h("details", {}, h("summary", {}, counted(failed.length, "problem")),
    h("ul", { class: "plain small" }, failed.slice(0, SHOWN).map((text) => h("li", { class: "text" }, text)),
      failed.length > SHOWN && h("li", { class: "quiet" },
        `and ${count(failed.length - SHOWN)} more`)))].filter((one) => one instanceof Node);
}

/** @param {Job} job @returns {string} */
function resultWords({ kind, result: values, parameters }) {
  if (Object.keys(values).length === 0) return "";
  /** @param {string} name */
  const number = (name) => Array.isArray(values[name]) ? values[name].length : Number(values[name] ?? 0);
  /** @param {string} name @param {string} one @param {string} [more] */
  const some = (name, one, more) => counted(number(name), one, more);
  const left = number("left") ? ` ${count(number("left"))} are left.` : "";
  switch (kind) {
    case "watched":
    case "ingest": {
      const parts = [["added", "added"], ["changed", "changed"], ["unchanged", "as they were"]]
        .flatMap(([name = "", label]) => number(name) ? `${count(number(name))} ${label}` : []);
      return `Documents: ${parts.join(", ") || "none"}.${number("passages") ? ` ${some("passages", "passage")} written.` : ""}`;
    }
    case "extract": return `${some("passages", "passage")} read, ${some("triples", "fact")} found.${left}`;
    case "resolve": {
      const tied = parameters["apply"] ? "" : " Nothing was linked.";
      const mean = number("same") === 1 ? "means" : "mean";
      return `${some("names", "name")} compared: ${some("same", "pair")} ${mean} one entity, ${count(number("doubtful"))} in doubt.${tied}`;
    }
    case "tree": return `${some("written", "summary", "summaries")} written on ${some("levels", "level")}.${left}`;
    case "communities": return `${some("written", "report")} written on ${some("levels", "level")}.${left}`;
    case "delete":
    case "prune": return `${values["documents"] ? `${some("documents", "document")} with ` : ""}${some("passages", "passage")} deleted.`;
    default: return "";
  }
}

/** @param {{calls?: number, prompt_tokens?: number, completion_tokens?: number, cost?: number | null} | undefined} usage */
function usageWords(usage) {
  if (!usage?.calls) return "";
  const tokens = (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
  return `The model was asked ${counted(usage.calls, "time")}, ${count(tokens)} tokens${usage.cost ? `, ${money(usage.cost)}` : ""}.`;
}

/** @param {number} cost */
export const money = (cost) => cost >= 1 ? cost.toFixed(2) : cost.toFixed(4);

/** The work that can be started on the open collection, and its jobs. @param {App} app */
export function workTab(app) {
  return [h("div", { class: "cards works" }, WORKS.map((work) => workCard(app, work))),
    h("h2", {}, "Jobs"), jobList(app, app.collection)];
}

/** @param {App} app @param {Work} work */
function workCard(app, work) {
  const model = app.start.model !== "", always = work.asks === "always";
  const why = !app.may("write") ? "Your key may only read." : always && !model ? NO_MODEL : "";
  const asks = h("input", { type: "checkbox", disabled: !model || why !== "" });
  const note = always ? model && `Asks ${app.start.model}; you see what it takes before.` : !model && `${NO_MODEL} It works without one.`;
  const run = button({ title: "Begin", icon: "play", kind: "line", label: `Begin: ${work.title}`, disabled: why !== "",
    onclick: () => begun(app, work, always || asks.checked) });
  return h("section", { class: "panel col work", "aria-label": work.title },
    h("div", { class: "row work-title" }, icon(work.icon), h("h3", {}, work.title)), h("p", { class: "quiet grow" }, work.does),
    !always && h("label", { class: "tick" }, asks, h("span", {}, "Use a language model")),
    (why || note) && h("p", { class: "hint" }, why || note), h("div", { class: "row" }, run));
}

/**
 * Start some work; if it calls a model, only after the visitor has seen the estimate.
 * @param {App} app
 * @param {Work} work
 * @param {boolean} asks
 */
async function begun(app, work, asks) {
  if (asks && !await dialog(work.title, (/** @type {(yes: boolean) => void} */ close) => estimated(app, work, close))) return;
  await post(address(["collections", app.collection, "jobs"]), { kind: work.kind, parameters: work.asks === "always" ? {}
    : { ask: asks, ...(work.kind === "resolve" && { apply: true }) } });
  app.go(`/library?tab=work`);
}

/** @param {App} app @param {Work} work @param {(yes: boolean) => void} close */
function estimated(app, work, close) {
  const note = h("div", { class: "dialog-text", "aria-live": "polite" }), yes = button({ title: "Begin", kind: "main", disabled: true,
    onclick: () => close(true) });
  fill(note, loading("Estimating the cost"));
  void get(address(["collections", app.collection, "estimates", work.kind]), app.signal).then((/** @type {Estimate} */ estimate) => {
    fill(note, estimate.calls > 0 && h("dl", { class: "figures" }, figure("Calls", count(estimate.calls)), figure("Tokens", count(estimate.tokens)),
      figure("Price", estimate.cost === null ? "not known" : `at most ${money(estimate.cost)}`)), h("ul", { class: "plain small quiet" },
        estimate.lines.map((line) => h("li", {}, line))));
    yes.disabled = estimate.calls === 0;
  }, (error) => {
    const { message, remedy } = words(error);
    fill(note, h("p", {}, `What it takes is not known. ${message} ${remedy}`));
    yes.disabled = error?.status === 403;
  });
  return [h("p", { class: "dialog-text" }, work.does), note, h("div", { class: "row end" },
    button({ title: "Not now", onclick: () => close(false) }), yes)];
}

/** A number with its unit. @param {string} title @param {string} value */
export const figure = (title, value) => h("div", {}, h("dt", {}, title), h("dd", {}, value));
