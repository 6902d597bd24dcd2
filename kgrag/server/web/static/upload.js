// Uploads files to a collection in parts, which jobs then ingest. Continues while other pages are shown.
import { ApiError, address, get, remove } from "./api.js";
import { attempt, button, count, counted, fill, h, icon, say, size } from "./dom.js";
import { Pace, badge, isOver, pause, progressOf } from "./jobs.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./jobs.js").Job} Job */
/** A file with the name of its document. @typedef {{file: File, name: string}} Named */
/** @typedef {"waiting" | "sending" | "sent" | "reading" | "read" | "partly" | "problem" | "stopped"} State */
/**
 * A file with its progress; `part`: the share that was sent, 0 to 1; `why`: its problem.
 * @typedef {Named & {state: State, part: number, why: string}} Item
 */
/**
 * The files of a job, and the number of documents read.
 * @typedef {{id: string, items: Item[], job: Job | null, documents: number}} Begun
 */

const SHOWN = 200, OFTEN = 400; // rows, and milliseconds between drawings
const TRIES = 4, LISTED = 500; // times that a part is sent; problems that a job tells at most
const AGAIN = [0, 429, 502, 503, 504];

/** @type {Record<State, [string, string, string]>} */
const STATES = {
  waiting: ["Waiting", "", "clock"], sending: ["Sending", "on", "upload"], sent: ["Sent", "", "upload"], reading: ["Reading", "on", "file"],
  read: ["Read", "ok", "check"], partly: ["Read in part", "warn", "warn"], problem: ["Failed", "wrong", "error"],
    stopped: ["Stopped", "", "stop"],
};
/** The states of files in the order of the list. @type {State[]} */
const ORDER = ["sending", "reading", "problem", "partly", "sent", "waiting", "stopped", "read"];

/** Emits "change" for a new upload, and "read" with the collection when documents were ingested. */
export const news = new EventTarget();
/** @type {Map<string, Upload>} */
const uploads = new Map();

/** Running uploads, and finished ones that were not dismissed. */
export const allUploads = () => [...uploads.values()];

/**
 * Upload files to a collection, which is created if necessary.
 * @param {App} app
 * @param {string} collection
 * @param {Named[]} files
 */
export function upload(app, collection, files) {
  if (files.length === 0) return say("The folder has no readable file.");
  let current = uploads.get(collection);
  if (!current) {
    current = new Upload(app, collection);
    uploads.set(collection, current);
  }
  current.add(files);
  news.dispatchEvent(new Event("change"));
}

/** A file uploaded in this visit, by its name. @param {string} collection @param {string} name */
export const sentBefore = (collection, name) => uploads.get(collection)?.items.find((item) => item.name === name);

addEventListener("beforeunload", (event) => {
  if (allUploads().some((upload) => upload.sending)) event.preventDefault();
});

/** Show running uploads on the link to the Library, on every page. */
function showBusy() {
  const open = allUploads().filter((upload) => !upload.over), link = document.querySelector('#side a.page[href^="/library"]');
  const left = open.reduce((sum, { number }) => sum + number.waiting + number.sending + number.sent + number.reading, 0);
  if (link instanceof HTMLElement) link.dataset["busy"] = left > 0 ? `${counted(left, "file")} to go` : "";
}

class Upload extends EventTarget {
  /** @param {App} app @param {string} collection */
  constructor(app, collection) {
    super();
    this.app = app;
    this.collection = collection;
    this.fresh = !app.start.collections.includes(collection);
    /** @type {Item[]} */
    this.items = [];
    /** @type {Begun[]} */
    this.open = [];
    /** @type {Record<State, number>} */
    this.number = { waiting: 0, sending: 0, sent: 0, reading: 0, read: 0, partly: 0, problem: 0, stopped: 0 };
    this.bytes = 0;
    this.sentBytes = 0;
    this.pace = new Pace();
    this.reading = new Pace();
    this.trouble = "";
    this.cancelling = new AbortController();
    this.sending = this.following = false;
    this.timer = 0;
  }

  /** Whether all is done. */
  get over() {
    return !this.sending && this.open.length === 0;
  }

  /** @param {Named[]} files */
  add(files) {
    const names = new Set(files.map(({ name }) => name));
    this.items = this.items.filter((item) => !names.has(item.name) || !["read", "partly", "problem", "stopped"].includes(item.state));
    for (const { file, name } of files) this.items.push({ file, name: name.normalize("NFC"), state: "waiting", part: 0, why: "" });
    for (const state of ORDER) this.number[state] = this.items.filter((item) => item.state === state).length;
    if (this.cancelling.signal.aborted) this.cancelling = new AbortController();
    if (!this.sending) void this.send();
    this.changed();
  }

  /** Send failed and stopped files again. */
  again() {
    const { upload_bytes } = this.app.start;
    this.add(this.items.filter((item) => item.state === "stopped" || (item.state === "problem" && item.file.size <= upload_bytes)));
  }

  /** @param {Item} item @param {State} state @param {string} [why] */
  set(item, state, why = "") {
    this.number[item.state] -= 1;
    this.number[state] += 1;
    item.state = state;
    item.why = why;
  }

  /** Emit a change, but not too often. */
  changed() {
    this.timer ||= setTimeout(() => { this.timer = 0; this.dispatchEvent(new Event("change")); showBusy(); }, OFTEN);
  }

  async send() {
    this.sending = true;
    this.bytes = this.items.filter((item) => item.state === "waiting").reduce((sum, { file }) => sum + file.size, 0);
    this.sentBytes = 0;
    this.pace = new Pace();
    for (let part = this.next(); part.length > 0; part = this.next()) await this.sendPart(part, TRIES);
    this.sending = false;
    this.changed();
  }

  /** The files of the next request, by the limits of the server. */
  next() {
    const { upload_files, upload_bytes } = this.app.start;
    /** @type {Item[]} */
    const part = [];
    let bytes = 0;
    for (const item of this.items) {
      if (item.state !== "waiting") continue;
      if (item.file.size > upload_bytes) this.set(item, "problem",
        `It is larger than ${size(upload_bytes)}, the most that this server takes.`);
      else if (part.length === upload_files || bytes + item.file.size > upload_bytes) break;
      else {
        part.push(item);
        bytes += item.file.size;
      }
    }
    return part;
  }

  /**
   * Send a part; a refused part is halved until the refused file is found.
   * @param {Item[]} part
   * @param {number} tries
   * @returns {Promise<void>}
   */
  async sendPart(part, tries) {
    const before = this.sentBytes, { signal } = this.cancelling;
    try {
      const job = await sent(this.collection, part, signal, (share) => this.sentSo(part, share, before));
      this.trouble = "";
      this.sentSo(part, 1, before);
      this.open.push({ id: job.id, items: part, job: null, documents: 0 });
      if (!this.following) void this.follow();
    } catch (error) {
      this.sentBytes = before;
      if (signal.aborted) return part.forEach((item) => this.set(item, "stopped"));
      const { status, message, remedy } = /** @type {ApiError} */ (error);
      if (AGAIN.includes(status) && tries > 1) {
        this.trouble = `${message} kgrag will try again.`;
        for (const item of part) this.set(item, "waiting");
        this.changed();
        await pause(2000 * 2 ** (TRIES - tries), signal);
        return signal.aborted ? part.forEach((item) => item.state === "waiting" && this.set(item, "stopped")) : this.sendPart(part,
          tries - 1);
      }
      if ([400, 413, 422].includes(status) && part.length > 1) {
        const half = Math.ceil(part.length / 2);
        await this.sendPart(part.slice(0, half), tries);
        return this.sendPart(part.slice(half), tries);
      }
      this.trouble = "";
      for (const item of part) this.set(item, "problem", `${message} ${remedy}`.trim());
    } finally {
      this.changed();
    }
  }

  /**
   * Update the files of a part by the share that was sent.
   * @param {Item[]} part
   * @param {number} share of 1
   * @param {number} before bytes before it
   */
  sentSo(part, share, before) {
    const bytes = part.reduce((sum, { file }) => sum + file.size, 0);
    let left = bytes * share;
    for (const item of part) {
      const of = item.file.size;
      item.part = share === 1 || left >= of ? 1 : Math.max(0, left / of);
      if (item.state === "waiting" || item.state === "sending") {
        const state = item.part === 1 ? "sent" : left > 0 ? "sending" : "waiting";
        if (state !== item.state) this.set(item, state);
      }
      left -= of;
    }
    this.sentBytes = before + bytes * share;
    this.pace.at(this.sentBytes);
    this.changed();
  }

  /** Follow the jobs, which the server runs one after another. */
  async follow() {
    this.following = true;
    for (let first = this.open[0]; first; first = this.open[0]) {
      try {
        const job = /** @type {Job} */ (await get(address(["jobs", first.id])));
        this.heard(first, job);
        if (isOver(job)) {
          await this.ended(first, job);
          this.open.shift();
        } else await pause(1000);
        if (!this.sending) this.trouble = "";
      } catch (error) {
        const { status, message } = /** @type {ApiError} */ (error);
        if (status === 404) for (const item of this.open.shift()?.items ?? []) this.set(item, "problem",
          "The server no longer has its job.");
        else {
          this.trouble = `${message} kgrag will try again.`;
          await pause(3000);
        }
      }
      this.changed();
    }
    this.following = false;
  }

  /** @param {Begun} batch @param {Job} job */
  heard(batch, job) {
    if (job.stage !== batch.job?.stage) this.reading = new Pace();
    batch.job = job;
    this.reading.at(job.done);
    if (job.stage === "documents") batch.documents = Math.min(job.done, batch.items.length);
    else if (batch.documents > 0) batch.documents = batch.items.length;
    if (job.state === "running") for (const item of batch.items) if (item.state === "sent") this.set(item, "reading");
  }

  /** Set the state of each file of a job. @param {Begun} begun @param {Job} job */
  async ended({ items }, job) {
    const problems = /** @type {{place: string, message: string, lasting: boolean}[]} */ (job.result["problems"] ?? []);
    const others = await sentByOthers(this.collection, job);
    const names = problems.length > 0 ? await heldNames(this.collection) : null;
    for (const { place, message, lasting } of problems) {
      const item = itemAt(items, place);
      if (!item || item.state === "problem") continue;
      const whole = !names?.has(item.name) || (place === item.name && !lasting);
      this.set(item, whole ? "problem" : "partly", item.why || sentence(message));
    }
    for (const item of items) {
      if (item.state === "problem" || item.state === "partly") continue;
      if (job.state === "cancelled") this.set(item, "stopped");
      else if (job.state === "failed") this.set(item, "problem", `${job.error} ${job.remedy}`.trim());
      else if (problems.length >= LISTED && !names?.has(item.name)) this.set(item, "problem", "It could not be read.");
      else this.set(item, "read", others.has(item.name) ? "Another file of this name was uploaded at the same time. The last one was kept." : "");
    }
    const fresh = this.fresh && job.state === "done";
    if (this.fresh) await this.app.begin();
    if (fresh) this.fresh = false;
    news.dispatchEvent(new CustomEvent("read", { detail: { collection: this.collection, fresh } }));
  }

  /** Stop sending, and cancel the jobs. */
  async cancel() {
    this.cancelling.abort();
    for (const item of this.items) if (item.state === "waiting") this.set(item, "stopped");
    this.changed();
    await Promise.all(this.open.map(({ id }) => remove(address(["jobs", id]))));
  }

  close() {
    uploads.delete(this.collection);
    news.dispatchEvent(new Event("change"));
  }
}

/**
 * Send a part, and return the job. Uses XMLHttpRequest, since fetch reports no progress of uploads.
 * @param {string} collection
 * @param {Item[]} part
 * @param {AbortSignal} signal
 * @param {(share: number) => void} progress
 * @returns {Promise<Job>}
 */
function sent(collection, part, signal, progress) {
  return new Promise((resolve, reject) => {
    const form = new FormData(), request = new XMLHttpRequest();
    for (const { file, name } of part) form.append("files", file, name);
    const offline = () => reject(new ApiError("The server cannot be reached, or a file is no longer readable.",
      { remedy: "Check that both exist, and send it again.", kind: "Offline" }));
    request.upload.addEventListener("progress", (event) => progress(event.lengthComputable ? Math.min(.999, event.loaded / event.total) : 0));
    request.addEventListener("load", () => {
      if (request.status === 202) return resolve(request.response);
      if (request.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
      const failure = request.response ?? { error: `The server replied ${request.status}.`, remedy: "Try again in a moment." };
      reject(new ApiError(failure.error, { remedy: failure.remedy, kind: failure.kind, status: request.status }));
    });
    request.addEventListener("error", offline);
    request.addEventListener("timeout", offline);
    request.addEventListener("abort", () => reject(new DOMException("Stopped", "AbortError")));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.responseType = "json";
    request.open("POST", address(["collections", collection, "documents"]));
    request.setRequestHeader("Accept", "application/json");
    request.send(form);
  });
}

/** Names of files that other jobs read at the same time. @param {string} collection @param {Job} job @returns {Promise<Set<string>>} */
async function sentByOthers(collection, job) {
  const { jobs } = /** @type {{jobs: Job[]}} */ (await get(address(["jobs"], { collection, limit: 20 })));
  const others = jobs.filter((one) => one.id !== job.id && one.created < job.ended && (!one.ended || one.ended > job.created));
  return new Set(others.flatMap((one) => one.parameters["uploads"] ?? []));
}

/** @param {string} collection @returns {Promise<Set<string>>} */
async function heldNames(collection) {
  const { uploads: stored } = await get(address(["collections", collection, "uploads"]));
  return new Set(stored.map((/** @type {{name: string}} */ one) => one.name));
}

/** The file of a place: "a.csv", "a.csv:12", "a.mbox#3". @param {Item[]} items @param {string} place */
function itemAt(items, place) {
  const near = items.filter(({ name }) => place === name || (place.startsWith(name) && /[:#, (]/.test(place[name.length] ?? "")));
  return near.sort((one, other) => other.name.length - one.name.length)[0];
}

// ----- choosing files

/**
 * Let the visitor choose files; [] for none.
 * @param {{folder?: boolean, one?: boolean, accept?: string}} [options]
 * @returns {Promise<Named[]>}
 */
export function picked(options = {}) {
  return new Promise((resolve) => {
    const input = h("input", { type: "file", multiple: !options.one, webkitdirectory: options.folder, accept: options.accept });
    input.addEventListener("change", () => resolve(visible([...input.files ?? []].map((file) => ({ file, name: file.webkitRelativePath
      || file.name })))));
    input.addEventListener("cancel", () => resolve([]));
    input.click();
  });
}

/** The dropped files, with the content of folders. @param {DataTransfer} data @returns {Promise<Named[]>} */
export async function dropped(data) {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()), plain = [...data.files]; // both now: later they are empty
  /** @type {Named[]} */
  const files = [];
  /** @param {FileSystemEntry} entry */
  const walk = async (entry) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
      files.push({ file, name: entry.fullPath.replace(/^\/+/, "") });
    } else {
      const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
      for (;;) {
        const inside = /** @type {FileSystemEntry[]} */ (await new Promise((resolve, reject) => reader.readEntries(resolve, reject)));
        if (inside.length === 0) break;
        for (const one of inside) await walk(one);
      }
    }
  };
  const items = entries.filter((entry) => entry !== null);
  for (const entry of items) await walk(entry);
  return visible(items.length > 0 ? files : plain.map((file) => ({ file, name: file.name })));
}

/** Omit files that systems put into folders, such as .DS_Store. @param {Named[]} files */
function visible(files) {
  return files.filter(({ name }) => !name.split("/").some((part) => part.startsWith(".") || part === "Thumbs.db"
    || part === "desktop.ini"));
}

/**
 * A drop zone for files, with buttons to choose them.
 * @param {(files: Named[]) => void} add
 * @param {...Node} more below it
 */
export function dropZone(add, ...more) {
  const zone = h("div", { class: "drop" }, h("span", { class: "drop-sign" }, icon("upload")), h("p", { class: "empty-title" },
    "Drop files or a folder here"),
    h("p", { class: "quiet" }, "PDF, Word, HTML, Markdown, tables, mail, plain text and more.",
      " A file of the same name takes the place of the older one."),
    h("div", { class: "row" }, button({ title: "Choose files", icon: "file", kind: "main", onclick: async () => add(await picked()) }),
      button({ title: "Choose a folder", icon: "folder", kind: "line", onclick: async () => add(await picked({ folder: true })) })),
        ...more);
  acceptDrops(zone, zone, add);
  return zone;
}

/**
 * Accept dropped files; `highlight` has the class "over" meanwhile.
 * @param {HTMLElement | Document} target
 * @param {Element} highlight
 * @param {(files: Named[]) => void} add
 * @param {AbortSignal} [signal]
 */
export function acceptDrops(target, highlight, add, signal) {
  let depth = 0;
  /** @param {string} name @param {(event: DragEvent) => void} does */
  const on = (name, does) => target.addEventListener(name, (event) => {
    if (!(event instanceof DragEvent) || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    does(event);
    highlight.classList.toggle("over", depth > 0);
  }, signal ? { signal } : {});
  on("dragenter", () => { depth += 1; });
  on("dragleave", () => { depth -= 1; });
  on("dragover", () => {});
  on("drop", (event) => {
    depth = 0;
    event.stopPropagation();
    const { dataTransfer } = event;
    if (dataTransfer) void attempt(async () => add(await dropped(dataTransfer)));
  });
}

// ----- the panels

/** The current uploads, until the page is left; with all files, or in short. @param {App} app @param {boolean} each */
export function uploadPanels(app, each) {
  const box = h("div", { class: "col" });
  /** @type {Map<Upload, UploadPanel>} */
  const panels = new Map();
  const draw = () => {
    for (const upload of allUploads()) if (!panels.has(upload)) panels.set(upload, new UploadPanel(upload, app, each));
    fill(box, allUploads().map((upload) => panels.get(upload)?.element));
    box.hidden = uploads.size === 0;
  };
  news.addEventListener("change", draw, { signal: app.signal });
  draw();
  return box;
}

class UploadPanel {
  /** @param {Upload} upload @param {App} app @param {boolean} each */
  constructor(upload, app, each) {
    this.upload = upload;
    this.each = each;
    /** @type {"all" | "failed"} */
    this.filter = "all";
    this.title = h("h2", {});
    this.said = h("p", { class: "unseen", role: "status" });
    this.trouble = h("p", { class: "hint warned", role: "status" });
    this.sent = bar("Sent");
    this.read = bar("Read");
    this.actions = h("div", { class: "row" });
    this.filters = h("div", { class: "row", role: "group", "aria-label": "Which files are shown" });
    this.list = h("ul", { class: "files", "aria-label": "Files" });
    this.more = h("p", { class: "hint" });
    this.drawn = "";
    this.element = h("section", { class: "panel col upload", "aria-label": `Files for ${upload.collection}` },
      h("div", { class: "row" }, this.title, h("span", { class: "space" }), this.actions), this.said, this.trouble, this.sent.element,
        this.read.element,
      this.filters, this.list, this.more);
    upload.addEventListener("change", () => this.draw(), { signal: app.signal });
    this.draw();
  }

  draw() {
    const { upload } = this, { number } = upload, all = upload.items.length, finished = all - number.waiting - number.sending - number.stopped;
    const failed = number.problem + number.partly, read = number.read + number.partly;
    fill(this.title, upload.over ? summary(upload) : `Adding ${counted(all, "file")} to ${upload.collection}`);
    const text = upload.over ? summary(upload) : upload.sending ? `Sending ${counted(all, "file")}.` : "All files are uploaded. kgrag is reading them.";
    if (this.said.textContent !== text) this.said.textContent = text;
    this.trouble.textContent = upload.trouble;
    this.sent.show(finished, all, upload.sending && [upload.pace.rate > 0 && `${size(Math.round(upload.pace.rate))} a second`,
      upload.pace.left(upload.bytes - upload.sentBytes)]);
    const first = upload.open[0], job = first?.job;
    this.read.show(Math.min(all, read + number.problem + (first?.documents ?? 0)), all, job?.state === "running" && readingWords(job,
      upload.reading, first?.items.length ?? 0));
    this.sent.element.hidden = this.read.element.hidden = upload.over;
    this.drawActions(failed);
    this.drawFiles(failed, all);
  }

  /** @param {number} failed */
  drawActions(failed) {
    const { upload } = this, state = `${upload.over} ${failed} ${upload.number.stopped} ${upload.cancelling.signal.aborted}`;
    if (state === this.drawn) return;
    this.drawn = state;
    const stopping = upload.cancelling.signal.aborted, left = upload.number.problem + upload.number.stopped;
    fill(this.actions, upload.over
      ? [left > 0 && button({ title: left === 1 ? "Send it again" : `Send ${count(left)} again`, icon: "again", kind: "line",
        onclick: () => upload.again() }),
        button({ title: "Close", icon: "close", onclick: () => upload.close() })]
      : button({ title: stopping ? "Stopping" : "Cancel", icon: "stop", kind: "line", disabled: stopping, onclick: () => upload.cancel() }));
    fill(this.filters, this.each && failed > 0 && failed < upload.items.length
      && /** @type {["all" | "failed", string][]} */ ([["all", "All files"],
      ["failed", `Only those that failed (${count(failed)})`]]).map(([filter, title]) =>
      button({ title, pressed: this.filter === filter, onclick: () => { this.filter = filter; this.drawn = ""; this.draw(); } })));
  }

  /** @param {number} failed @param {number} all */
  drawFiles(failed, all) {
    const { upload } = this, only = this.filter === "failed" && failed > 0;
    const states = only ? ORDER.filter((state) => state === "problem" || state === "partly") : ORDER;
    /** @type {Item[]} */
    const rows = [];
    for (const state of states) {
      if (rows.length === SHOWN || upload.number[state] === 0) continue;
      for (const item of upload.items) if (item.state === state && rows.push(item) === SHOWN) break;
    }
    const quiet = !this.each || (upload.over && failed === 0 && upload.number.stopped === 0);
    fill(this.list, quiet ? null : rows.map(fileRow));
    this.list.hidden = quiet;
    const rest = (only ? failed : all) - rows.length;
    this.more.textContent = !quiet && rest > 0 ? `and ${counted(rest, "file")} more` : "";
  }
}

/** The progress of a job: documents first, then their links. @param {Job} job @param {Pace} pace @param {number} files */
function readingWords(job, pace, files) {
  if (job.stage.startsWith("seconds for ")) return [progressOf(job, pace)]; // one file takes long
  if (job.stage !== "documents") return [job.stage ? `linking them: ${progressOf(job, pace)}` : ""];
  return [pace.rate >= 1 ? `${count(Math.round(pace.rate))} a second` : "", pace.left(files - job.done)];
}

/** A problem as a sentence: "It is damaged." @param {string} message */
export const sentence = (message) => /^[a-z]/.test(message) ? `It ${message.replace(/\.?$/, ".")}` : message;

/** @param {Upload} its */
function summary({ number, collection }) {
  const parts = [`${counted(number.read + number.partly, "file")} read`, number.partly && `${count(number.partly)} of them in part`,
    number.problem && `${count(number.problem)} failed`, number.stopped && `${count(number.stopped)} stopped`];
  return `${parts.filter(Boolean).join(", ")} · ${collection}`;
}

/** @param {Item} item */
function fileRow(item) {
  const [title, kind, symbol] = STATES[item.state];
  return h("li", {}, h("span", { class: "file-name", title: item.name, dir: "auto" }, item.name), h("span", { class: "hint" },
    size(item.file.size)),
    badge(item.state === "sending" ? `Sending ${Math.floor(item.part * 100)} %` : title, kind, symbol),
      item.why && h("p", { class: "small" }, item.why));
}

/** A progress bar with its name, and its progress in words. @param {string} title */
function bar(title) {
  const meter = h("progress", { max: 1, value: 0, "aria-label": title }), text = h("span", { class: "hint" });
  return {
    element: h("div", { class: "meter" }, h("span", { class: "small strong" }, title), meter, text),
    /** @param {number} done @param {number} all @param {false | undefined | (string | false)[]} more */
    show(done, all, more) {
      Object.assign(meter, { max: Math.max(1, all), value: done });
      text.textContent = [`${count(done)} of ${count(all)}`, ...(more || [])].filter(Boolean).join(" · ");
    },
  };
}
