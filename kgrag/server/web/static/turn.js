// A question of a conversation: its events, the answer with its citations, and its actions.
import { address, ApiError, events, get, post } from "./api.js";
import { button, counted, dialog, fill, h, icon, morph, problem, say, when } from "./dom.js";
import { safe } from "./markdown.js";
import { snippet, trail } from "./sources.js";

/**
 * @typedef {import("./sources.js").Source} Source
 * @typedef {import("./sources.js").Hop} Hop
 * @typedef {{id: string, conversation: string, collections: string[], question: string, system: string, retriever: string,
 *   asked: string, state: "waiting" | "running" | "done" | "stopped" | "failed", created: string,
 *   error: {error: string, remedy: string, kind: string} | null, good: boolean | null, remark: string}} Turn
 * @typedef {{html: string, text: string, found: boolean, cut: boolean, problem: string, doubt: string, system: string, usage: string, seconds: number}} Answer
 * @typedef {{step: number, topic: string, lines: [string, string][], hops: Hop[]}} Step
 * @typedef {{turn: Turn, mine: boolean, answer: Answer | null, steps: Step[], sources: Source[], notes: string[], hops: Hop[], follow_ups: string[], versions?: string[]}} Shown
 * @typedef {{signal: AbortSignal, pane: import("./sources.js").Sources, looks: Record<string, string>, model: string,
 *   edit: (turn: Turn) => void, ask: (question: string) => unknown, again: (turn: Turn) => unknown, version: (id: string) => unknown, ended: (shown: Shown) => void, found: (sources: Source[]) => boolean, grown: (content: HTMLElement) => void}} Place
 */

const AGAIN = [500, 1000, 2000, 4000, 8000]; // milliseconds before the connection is tried again

const LONG = 600; // characters of a question that may have to be scrolled

/** A turn on the page. */
export class TurnView {
  /** @param {Shown} item @param {Place} place */
  constructor(item, place) {
    this.shown = item;
    this.place = place;
    this.content = h("div", { class: "col" });
    this.text = h("div", { class: "answer" });
    this.doing = h("div", { class: "doing" });
    this.spoken = h("div", { class: "unseen", role: "log" }); // the new words for screen readers, each once
    this.element = h("article", { class: "turn", id: `turn-${item.turn.id}`, tabindex: -1, "aria-label": item.turn.question });
    this.head();
    if (this.over) this.draw();
  }

  get over() {
    return !["waiting", "running"].includes(this.shown.turn.state);
  }

  /** The question, and its rewritten form. */
  head() {
    const { turn, mine, versions = [] } = this.shown, at = versions.indexOf(turn.id);
    const to = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string | undefined} */ id) =>
      button({ icon: name, label, disabled: !id, onclick: () => id && this.place.version(id) });
    fill(this.element, h("h2", { class: "question text", tabindex: turn.question.length > LONG && 0 }, turn.question),
      turn.asked && turn.asked !== turn.question && h("p", { class: "asked text" }, `Understood as: ${turn.asked}`),
      mine && this.over && h("div", { class: "question-bar" },
        versions.length > 1 && [to("left", "Version before", versions[at - 1]), h("span", { class: "small" }, `${at + 1} of ${versions.length}`), to("right", "Next version", versions[at + 1])],
        button({ icon: "edit", label: "Edit the question", onclick: () => this.place.edit(turn) }),
        button({ icon: "again", label: "Ask again", onclick: () => this.place.again(turn) })),
      this.content, this.spoken);
  }

  /** Follow the events until the end; reconnect if the connection is lost. */
  async follow() {
    for (let tried = 0; !this.over;) {
      try {
        await this.hear();
        tried = 0;
        this.shown = await get(address(["turns", this.shown.turn.id]), this.place.signal);
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== "Offline" || tried >= AGAIN.length) {
          if (!this.place.signal.aborted) fill(this.content, problem(error, button({ title: "Look again", icon: "again", onclick: () => this.follow() })), this.text);
          return;
        }
        fill(this.doing, h("span", { class: "spinner" }), h("span", { role: "status" }, "The connection is lost; trying again."));
        await new Promise((done) => setTimeout(done, AGAIN[tried++]));
      }
    }
    this.head();
    this.draw();
    this.place.ended(this.shown);
  }

  /** Show the events as they arrive. */
  async hear() {
    const began = Date.now(), now = h("span", { class: "now", role: "status" }, "Beginning"), clock = h("span", { class: "small", "aria-hidden": "true" }), spent = h("span", { class: "small" });
    const way = h("div", {}), lines = h("ol", {}), hits = h("div", {});
    const stop = button({ icon: "stop", title: "Stop", onclick: () => post(address(["turns", this.shown.turn.id, "stop"]), {}) });
    fill(this.doing, h("span", { class: "spinner" }), now, clock, spent, this.shown.mine && stop);
    fill(this.content, this.doing, way, this.text, hits, h("details", { class: "steps", open: false }, h("summary", {}, "Steps"), lines));
    const ticking = setInterval(() => { clock.textContent = `${Math.round((Date.now() - began) / 1000)} s`; }, 1000);
    /** @type {Step[]} */
    const steps = [];
    try {
      for await (const { name, data } of events(address(["turns", this.shown.turn.id, "events"]), this.place.signal)) {
        if (name === "waiting") now.textContent = `${ordinal(data.before)} in line`;
        else if (name === "begun") now.textContent = "Searching";
        else if (name === "again") now.textContent = `The language model does not answer; trying again (${data.tries})`;
        else if (name === "sources") {
          this.shown.sources = data.sources;
          this.place.found(data.sources);
        } else if (name === "found") {
          if (!this.shown.sources.length && !this.place.found(data.sources)) fill(hits, h("p", { class: "hint" }, "Found so far"), brief(data.sources));
        }
        else if (name === "asked") {
          this.shown.turn.asked = data.question;
          now.textContent = data.question;
        } else if (name === "spent") spent.textContent = data.usage;
        else if (name === "text") {
          now.textContent = "Writing";
          fill(hits);
          morph(this.text, safe(data.html, (cite) => this.cite(cite)));
          this.speak(false);
          this.place.grown(this.content);
        } else if (name === "step") {
          steps.push(data);
          if (data.topic) now.textContent = data.topic;
          if (data.hops.length) fill(way, trail(data.hops, () => undefined));
          fill(lines, stepList(steps));
        }
      }
    } finally {
      clearInterval(ticking);
    }
  }

  /** Announce the new words. @param {boolean} whole whether the last word is complete */
  speak(whole) {
    const text = this.text.textContent ?? "", from = this.spoken.textContent?.length ?? 0, to = whole ? text.length : text.lastIndexOf(" ");
    if (to > from) this.spoken.append(h("span", {}, text.slice(from, to)));
  }

  /** Show the result, with its end state first. */
  draw() {
    const focused = document.activeElement, within = this.content.contains(focused), label = focused?.getAttribute("aria-label") ?? "";
    const { turn, answer, sources, steps, notes } = this.shown, end = ending(this.shown), { role, again } = ENDS[end] ?? {}, said = words(this.shown);
    const ask = !!again && this.shown.mine && button({ title: "Ask again", icon: "again", onclick: () => this.place.again(turn) });
    fill(this.content,
      end === "failed" ? problem({ message: said, remedy: turn.error?.remedy }, ask)
        : said && h("p", { class: "remark ending", role: role ?? "note" }, icon(role ? "warn" : "search"), h("span", { class: "text" }, said), ask),
      sources.some((source) => source.gone && (source.number !== null || !answer)) && h("p", { class: "row small stale", role: "note" }, icon("warn"), "Documents behind this answer were removed or changed since.",
        this.shown.mine && button({ title: "Ask again", icon: "again", onclick: () => this.place.again(turn) })),
      ...answer?.text ? this.answered(answer) : [this.text.hasChildNodes() && this.text],
      this.over && !answer?.text && (turn.state === "done" || sources.length > 0) && this.found(end !== "searched"),
      steps.length > 0 && h("details", { class: "steps" }, h("summary", {}, `How it came about: ${counted(Math.max(1, ...steps.map(({ step }) => step)), "step")}`), h("ol", {}, stepList(steps))),
      notes.map((note) => h("p", { class: "hint text" }, note)),
      answer?.text || sources.length > 0 ? this.bar() : null, this.followUps());
    if (!within || focused?.isConnected) return;
    const same = label && this.content.querySelector(`[aria-label="${CSS.escape(label)}"]`);
    (same instanceof HTMLElement ? same : this.element).focus({ preventScroll: true });
  }

  /** Follow-up questions, shown only below the last turn. */
  followUps() {
    const { mine, follow_ups } = this.shown;
    return mine && follow_ups.length > 0 && h("div", { class: "examples follow-ups", role: "group", "aria-label": "Ask next" },
      follow_ups.map((text) => button({ title: text, kind: "line", icon: "ask", onclick: () => this.place.ask(text) })));
  }

  /** @param {Answer} answer */
  answered(answer) {
    morph(this.text, safe(answer.html, (cite) => this.cite(cite)));
    if (this.spoken.hasChildNodes()) this.speak(true);
    return [this.text,
      answer.doubt && h("p", { class: "remark small", role: "note" }, icon("warn"), h("span", { class: "text" }, answer.doubt)),
      trail(this.shown.hops, (id, event) => this.open(id, event))];
  }

  /** The hits of a search without an answer. @param {unknown} [unanswered] whether an answer was requested */
  found(unanswered) {
    const { sources, hops } = this.shown;
    if (sources.length === 0) return h("p", {}, "Nothing was found. Try other words, or another collection.");
    return h("div", { class: "col" },
      !!unanswered && h("p", { class: "quiet" }, "These passages were found:"),
      !this.place.model && h("p", { class: "no-model" }, icon("search"), "Search only: no language model configured."),
      trail(hops, (id, event) => this.open(id, event)),
      h("ol", { class: "found" }, sources.map((source, place) => {
        const title = h("button", { type: "button", class: "hop-title" }, source.heading);
        title.addEventListener("click", (event) => { this.sources(); this.place.pane.show(place); this.place.pane.enter(event); });
        const way = source.hops.map((hop) => hop.title).join(" → ");
        return h("li", {}, title, snippet(source.snippet), way && h("p", { class: "chain" }, way));
      })));
  }

  /** @param {{number: number, start: number, end: number}} cite */
  cite(cite) {
    const source = this.shown.sources.find((entry) => entry.number === cite.number);
    const mark = h("button", { type: "button", class: "cite", "aria-label": `Source ${cite.number}: ${source?.heading ?? ""}`, "data-number": cite.number,
      "data-start": cite.start, "data-end": cite.end }, String(cite.number));
    const show = () => {
      this.sources();
      const [number = 0, start = 0, end = 0] = ["number", "start", "end"].map((name) => Number(mark.dataset[name])); // a later text may have changed them
      this.place.pane.cite({ number, start, end });
      for (const other of document.querySelectorAll(".cite.here")) other.classList.remove("here");
      mark.classList.add("here");
    };
    mark.addEventListener("click", (event) => { show(); this.place.pane.enter(event); });
    mark.addEventListener("focus", () => { if (!this.place.pane.element.hidden) show(); });
    mark.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse" && !this.place.pane.element.hidden) show(); });
    return mark;
  }

  /** Show the sources of this turn in the pane. */
  sources() {
    if (this.place.pane.sources !== this.shown.sources) this.place.pane.have(this.shown.sources);
  }

  /** @param {string} passage @param {MouseEvent} event */
  open(passage, event) {
    this.sources();
    this.place.pane.passage(passage);
    this.place.pane.enter(event);
  }

  bar() {
    const { turn, answer, mine, sources } = this.shown;
    const good = button({ icon: "good", label: "A good answer", pressed: turn.good === true, onclick: () => this.rate(turn.good === true ? null : true) });
    const bad = button({ icon: "bad", label: "Not a good answer", pressed: turn.good === false, onclick: () => this.rate(turn.good === false ? null : false) });
    return h("div", { class: "bar" },
      answer && button({ icon: "copy", label: "Copy the answer", onclick: async () => { await navigator.clipboard.writeText(answer.text); say("Copied."); } }),
      sources.length > 0 && button({ icon: "library", title: counted(sources.filter((source) => source.read).length || sources.length, "passage"), onclick: (event) => { this.sources(); this.place.pane.show(0); this.place.pane.enter(event); } }),
      button({ icon: "share", label: "Copy the address of this answer", onclick: () => share(turn) }),
      button({ icon: "download", label: "Download", onclick: () => this.download() }),
      button({ icon: "graph", label: "Draw the trail", onclick: () => this.drawTrail() }),
      answer && mine && good, answer && mine && bad,
      h("span", { class: "spent" }, answer ? `${answer.usage}, ${answer.seconds.toFixed(1)} s · ${when(turn.created)}` : when(turn.created)));
  }

  /** @param {boolean | null} good */
  async rate(good) {
    const { turn } = this.shown;
    let remark = "";
    if (good === false) {
      const reason = await dialog("What is wrong with it?", (/** @type {(value: string) => void} */ close) => {
        const field = h("textarea", { rows: 3, "aria-label": "What is wrong with it?", maxLength: 2000 });
        return [field, h("div", { class: "row end" }, button({ title: "Send", kind: "main", onclick: () => close(field.value) }))];
      });
      if (reason === undefined) return;
      remark = reason;
    }
    this.shown.turn = await post(address(["turns", turn.id, "opinion"]), { good, remark });
    this.draw();
    if (good !== null) say("Thank you. The maintainers of the collection will see it.");
  }

  async download() {
    const kind = await dialog("Download", (/** @type {(value: "md" | "json") => void} */ close) => [h("div", { class: "row" },
      button({ title: "Markdown, for reading", icon: "file", kind: "line", onclick: () => close("md") }),
      button({ title: "JSON, with all evidence", icon: "file", kind: "line", onclick: () => close("json") }))]);
    if (!kind) return;
    const text = kind === "md" ? inMarkdown(this.shown) : JSON.stringify(await get(address(["turns", this.shown.turn.id, "result"])), null, 1);
    const link = h("a", { href: URL.createObjectURL(new Blob([text])), download: `answer-${this.shown.turn.id.slice(0, 8)}.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  async drawTrail() {
    const [{ GraphView }, graph] = await Promise.all([import("./drawing.js"), get(address(["turns", this.shown.turn.id, "drawing"]))]);
    await dialog("The trail", () => {
      const none = async () => ({ nodes: [], edges: [] });
      const view = new GraphView({ looks: this.place.looks, expand: none, open: () => undefined });
      setTimeout(() => view.add(graph));
      view.legend.open = false;
      return [h("div", { class: "drawn" }, view.element)];
    }, "wide");
  }
}

/** @param {Turn} turn */
async function share(turn) {
  await navigator.clipboard.writeText(`${location.origin}/ask/${turn.conversation}?turn=${turn.id}`);
  say("The address is copied. Everybody who may see the collection can open it.");
}

/** @param {Step[]} steps */
function stepList(steps) {
  /** @type {Set<string>} */
  const texts = new Set();
  let last = 0;
  return steps.flatMap(({ step, topic, lines }) => {
    const items = [];
    if (step > last) {
      last = step;
      texts.clear();
      items.push(h("li", { class: "strong text" }, `${step}. ${topic}`));
    } else if (topic && !texts.has(topic)) items.push(h("li", { class: "line" }, h("span", {}, "query"), h("span", { class: "text" }, topic)));
    texts.add(topic);
    for (const [label, text] of lines) {
      if (texts.has(label + text)) continue;
      texts.add(label + text);
      items.push(h("li", { class: "line" }, h("span", {}, label), h("span", { class: "text" }, text)));
    }
    return items;
  });
}

/**
 * End state of a turn -> the message above its text, "#" for the passages read; `open`: whether to open the sources at once.
 * @type {Record<string, {said?: string, open?: boolean, again?: boolean, role?: string}>}
 */
const ENDS = {
  deadline: { said: "Cut short: the answer timed out. This is the text so far.", again: true, role: "alert" },
  connection: { said: "Cut short: the language model failed. This is the text so far.", again: true, role: "alert" },
  length: { said: "Cut short.", role: "alert" },
  partial: { said: "A step of the search failed; this answer rests on the other steps.", again: true, role: "alert" },
  stopped: { said: "Stopped. This is the text so far." },
  unwritten: { said: "Stopped." },
  failed: {},
  abstained: { said: "The model did not find it in #.", open: true },
  uncited: { said: "This answer cites nothing from #.", open: true },
  answered: {},
  searched: {},
};

/** The end state of a turn, a key of ENDS. @param {Shown} shown */
export function ending({ turn, answer, sources }) {
  const cited = sources.some((source) => source.number !== null), kind = turn.error?.kind;
  if (!answer?.text) return turn.state === "stopped" ? "unwritten" : turn.error ? "failed" : "searched";
  if (turn.state === "stopped") return "stopped";
  if (turn.state === "failed") return kind === "DeadlineError" ? "deadline" : "connection";
  return answer.cut ? "length" : answer.problem ? "partial" : !answer.found ? "abstained" : !cited && sources.length ? "uncited" : "answered";
}

/** Whether to open the sources of a turn automatically. @param {Shown} shown */
export const opened = (shown) => shown.sources.some((source) => source.number !== null) || !shown.answer?.text || !!ENDS[ending(shown)]?.open;

/** The message for the end state of a turn. @param {Shown} shown */
function words(shown) {
  const { turn, answer, sources } = shown, end = ending(shown), read = sources.filter((source) => source.read).length || sources.length;
  const detail = end === "connection" || end === "unwritten" ? turn.error?.error : end === "length" || end === "partial" ? answer?.problem : "";
  if (end === "failed") return turn.error?.kind === "DeadlineError" ? "The answer timed out." : turn.error?.error ?? "";
  return [ENDS[end]?.said?.replace("#", read === 0 ? "the documents" : read === 1 ? "the passage that was read" : `these ${read} passages`), detail].filter(Boolean).join(" ");
}

/** The passages shown while an answer is made. @param {Source[]} sources */
function brief(sources) {
  return h("ol", { class: "found" }, sources.slice(0, 5).map((source) => h("li", {}, h("span", { class: "strong" }, source.heading), snippet(source.snippet))));
}

/** @param {Shown} shown */
function inMarkdown({ turn, answer, sources }) {
  const cited = sources.filter((source) => source.number !== null || !answer);
  const list = cited.map((source, place) => `[${source.number ?? place + 1}] ${source.heading}${source.passage.source ? ` (${source.passage.source})` : ""}\n\n> ${source.passage.text.replaceAll("\n", "\n> ")}\n`);
  return `# ${turn.question}\n\n${answer ? `${answer.text}\n\n` : ""}## Sources\n\n${list.join("\n")}`;
}

/** @param {number} number */
function ordinal(number) {
  const ends = ["th", "st", "nd", "rd"], last = number % 100;
  return `${number}${ends[(last - 20) % 10] ?? ends[last] ?? "th"}`;
}
