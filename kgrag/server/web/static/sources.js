// The sources of an answer: the page of a PDF or the passage, with the sentence that supports a claim marked darker.
import { address, get, openFile } from "./api.js";
import { attempt, button, fill, h, icon, loading } from "./dom.js";

/**
 * @typedef {{id: string, document: string, title: string, text: string, ordinal: number, section: string, source: string,
 *   page: number | null, last_page: number | null, collection: string, figures?: Figure[]}} Passage
 * @typedef {{id: string, number: number, caption: string, page: number | null, media_type: string}} Figure
 * @typedef {{passage: string, title: string, sentence: string, name: string, start: number, end: number}} Hop
 * @typedef {{number: number | null, passage: Passage, heading: string, place: string, summary: string,
 *   snippet: {text: string, marks: [number, number][]}, support: [number, number], why: string, hops: Hop[], also: string, gone: boolean, read?: boolean}} Source
 * @typedef {{png: string, boxes: number[][], dark: number[][], pages: number, number: number, confidence: number | null}} Page
 */

let zoom = 1; // of the pages that are shown

/** The pane of sources of one conversation. */
export class Sources {
  /** @param {{collection: string}} options */
  constructor(options) {
    this.collection = options.collection;
    /** @type {Source[]} */
    this.sources = [];
    /** @type {Map<string, Promise<Page | null>>} */
    this.pages = new Map();
    this.shown = "";
    this.dismissed = false; // by the visitor, until a source is opened again
    this.list = h("div", { class: "source-list", role: "tablist", "aria-label": "Sources" });
    this.list.addEventListener("keydown", (event) => this.step(event));
    this.body = h("div", { class: "source-body", role: "tabpanel", id: "source-body" });
    /** @type {HTMLElement | null} */
    this.from = null; // what was pressed by a key to open a source
    this.element = h("section", { class: "sources", "aria-label": "Sources", hidden: true, onkeydown: (/** @type {KeyboardEvent} */ event) => this.leave(event) },
      h("div", { class: "source-bar" }, this.list, button({ icon: "close", label: "Close the sources", onclick: () => this.dismiss() })), this.body);
  }

  close() {
    this.element.hidden = true;
    this.shown = "";
  }

  /** Close the pane until it is opened again; on a phone this is a step back. */
  dismiss() {
    this.dismissed = true;
    this.close();
    if (!history.state?.source) return;
    document.body.dataset["back"] = "source"; // the page stays
    history.back();
  }

  /** Move the focus into a source opened by keyboard; Escape returns. @param {MouseEvent} event */
  enter(event) {
    if (event.detail !== 0 || !(event.currentTarget instanceof HTMLElement)) return;
    this.from = event.currentTarget;
    this.body.querySelector("h2")?.focus();
  }

  /** @param {KeyboardEvent} event */
  leave(event) {
    if (event.key !== "Escape") return;
    if (this.from?.isConnected) this.from.focus();
    else this.dismiss();
  }

  /** Open the pane early, so that nothing moves when sources arrive. */
  wait() {
    this.have([]);
    fill(this.body, h("p", { class: "quiet" }, "Sources appear here as soon as they are found."));
    this.element.hidden = false;
  }

  /** Move between sources by arrow keys. @param {KeyboardEvent} event */
  step(event) {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const tabs = [...this.list.children], at = tabs.findIndex((tab) => tab === document.activeElement);
    if (by === 0 || at < 0) return;
    event.preventDefault();
    const to = (at + by + tabs.length) % tabs.length;
    /** @type {HTMLElement} */ (tabs[to]).focus();
    this.show(to);
  }

  /** Set the sources, and prefetch the first page. @param {Source[]} sources */
  have(sources) {
    this.sources = sources;
    this.shown = "";
    const searched = sources.every((source) => source.number === null), some = sources.some((source) => source.read);
    fill(this.list, sources.map((source, place) => {
      const cited = source.number !== null, plain = searched && (source.read || !some);
      const tab = h("button", { type: "button", class: `chip${cited || plain ? "" : " more"}`, role: "tab", id: `source-${place}`, tabindex: place ? -1 : 0, "aria-controls": "source-body", "data-place": place, title: source.heading,
        "aria-label": `${cited ? `Source ${source.number}` : `${source.read ? "Also read" : "Also found"} ${place + 1}`}: ${source.heading}` }, cited ? String(source.number) : plain ? String(place + 1) : "·");
      tab.addEventListener("click", () => this.show(place));
      return tab;
    }));
    const first = sources[0];
    if (first && !first.gone && first.passage.page !== null) void this.page(first, first.support);
  }

  /** Show the source of a citation. @param {{number: number, start: number, end: number}} cite */
  cite(cite) {
    const place = this.sources.findIndex((source) => source.number === cite.number);
    if (place >= 0) this.show(place, [cite.start, cite.end]);
  }

  /** Show a source by the id of its passage, if there is one. @param {string} id */
  passage(id) {
    const place = this.sources.findIndex((source) => source.passage.id === id);
    if (place >= 0) this.show(place);
    return place >= 0;
  }

  /** @param {number} place @param {[number, number]} [support] the part of the text to mark */
  show(place, support) {
    const source = this.sources[place];
    if (!source) return;
    const part = support ?? source.support, key = `${place} ${part}`;
    if (this.element.hidden && matchMedia("(max-width: 1000px)").matches) history.pushState({ source: true }, "");
    this.element.hidden = false;
    this.dismissed = false;
    if (key === this.shown) return;
    this.shown = key;
    for (const tab of this.list.children) {
      const here = tab.getAttribute("data-place") === String(place);
      tab.setAttribute("aria-selected", String(here));
      tab.setAttribute("tabindex", here ? "0" : "-1");
    }
    this.body.setAttribute("aria-labelledby", `source-${place}`);
    const { passage } = source, to = passage.collection || this.collection;
    const page = h("div", { class: "page-place" }), open = `/passage/${encodeURIComponent(to)}/${encodeURIComponent(passage.id)}?start=${part[0]}&end=${part[1]}`;
    fill(this.body,
      h("header", { class: "source-head" }, h("h2", { tabindex: -1 }, source.heading),
        h("p", { class: "hint" }, [passage.source !== passage.title && fileName(passage.source), source.summary && `read as: ${source.summary}`, source.also].filter(Boolean).join(" · "))),
      source.gone && h("p", { class: "quiet" }, "This passage was removed or changed since it was found."),
      page, !source.gone && figures(to, passage.figures), !source.gone && h("details", { class: "passage-text", open: passage.page === null }, h("summary", {}, "The passage"), marked(passage.text, part)),
      h("div", { class: "row" }, h("a", { class: "button line", href: open }, icon("file"), "In its document"),
        h("a", { class: "button line", href: `/graph?collection=${encodeURIComponent(to)}&passage=${encodeURIComponent(passage.id)}` }, icon("graph"), "In the graph"),
        original(to, passage.document)),
      trail(source.hops, (id) => this.passage(id)),
      h("details", {}, h("summary", {}, "Why it was found"), h("p", { class: "small text" }, source.why || "It is cited.")));
    if (source.gone) return;
    if (passage.page === null) this.body.querySelector("mark.dark")?.scrollIntoView({ block: "nearest" });
    else void attempt(() => this.draw(page, source, part, key));
  }

  /** @param {HTMLElement} into @param {Source} source @param {[number, number]} part @param {string} key @param {number} [number] */
  async draw(into, source, part, key, number) {
    fill(into, loading(`Page ${number ?? source.passage.page}`));
    const page = await this.page(source, part, number);
    if (this.shown !== key) return;
    if (!page) {
      fill(into);
      const text = this.body.querySelector("details.passage-text");
      if (text instanceof HTMLDetailsElement) text.open = true;
      return;
    }
    const turn = (/** @type {number} */ to) => this.draw(into, source, part, key, to);
    fill(into, pageView(page, source.passage.title, turn));
  }

  /** The picture of a page, or null. @param {Source} source @param {[number, number]} part @param {number} [number] */
  page(source, part, number) {
    const to = source.passage.collection || this.collection;
    const at = address(["collections", to, "page"], { passage: source.passage.id, start: part[0], end: part[1], number });
    let promise = this.pages.get(at);
    if (!promise) {
      promise = get(at).catch(() => null);
      this.pages.set(at, promise);
    }
    return promise;
  }
}

/**
 * A page of a document with marks, and links to the pages before and after it.
 * @param {Page} page
 * @param {string} title
 * @param {(number: number) => unknown} turn
 * @param {boolean} [seek] whether to scroll to the first mark
 */
export function pageView(page, title, turn, seek = true) {
  const picture = h("div", { class: "page-picture" },
    h("img", { src: `data:image/png;base64,${page.png}`, alt: `Page ${page.number} of ${title}${page.boxes.length ? ", with the passage marked" : ""}` }),
    boxes(page.boxes, ""), boxes(page.dark, "dark"));
  const first = picture.querySelector("mark.dark") ?? picture.querySelector("mark"), figure = h("div", { class: "page-frame" }, picture);
  const to = (/** @type {number} */ width) => {
    zoom = Math.min(4, Math.max(1, width));
    picture.style.width = `${zoom * 100}%`;
  };
  to(zoom);
  const image = picture.querySelector("img");
  if (seek) image?.addEventListener("load", () => first?.scrollIntoView({ block: "center" }), { once: true });
  return h("figure", {}, h("figcaption", { class: "row" },
    button({ icon: "left", label: "Page before", disabled: page.number <= 1, onclick: () => turn(page.number - 1) }),
    h("span", {}, `Page ${page.number} of ${page.pages}`),
    button({ icon: "right", label: "Next page", disabled: page.number >= page.pages, onclick: () => turn(page.number + 1) }),
    button({ icon: "minus", label: "Smaller", onclick: () => to(zoom - .5) }), button({ icon: "plus", label: "Larger", onclick: () => to(zoom + .5) }),
    page.confidence !== null && h("span", { class: "hint" }, `Recognised from a picture, ${Math.floor(page.confidence * 100)} % sure.`),
    page.boxes.length === 0 && h("span", { class: "hint" }, "The passage is not on this page.")), figure);
}

/** The link to the file of a document. @param {string} collection @param {string} key */
export const original = (collection, key) => button({ icon: "file", title: "Open the original", kind: "line",
  onclick: () => openFile(address(["collections", collection, "original"], { key })) });

/** @param {number[][]} places @param {string} kind */
function boxes(places, kind) {
  return places.map(([x0 = 0, y0 = 0, x1 = 0, y1 = 0]) => {
    const mark = h("mark", { class: kind, "aria-hidden": "true" });
    Object.assign(mark.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` });
    return mark;
  });
}

/** Figures with their captions, and with their pictures if these are stored. @param {string} collection @param {Figure[]} [items] */
export function figures(collection, items = []) {
  if (items.length === 0) return null;
  return h("div", { class: "figures" }, items.map((one) => {
    const at = address(["collections", collection, "figures", one.id]);
    const picture = h("img", { src: at, alt: "", loading: "lazy" });
    picture.addEventListener("error", () => picture.remove(), { once: true });
    return h("figure", {}, h("a", { href: at, target: "_blank", rel: "noopener" }, picture),
      h("figcaption", { class: "small" }, one.caption, one.page === null ? "" : `, p. ${one.page}`));
  }));
}

/** The source of a document for readers, without its folder on the server. @param {string} source */
export function fileName(source) {
  return /^https?:/.test(source) ? source : source.split(/[\\/]/).at(-1) ?? "";
}

/** A text with a part marked. @param {string} text @param {[number, number]} part */
export function marked(text, [start, end]) {
  return h("p", { class: "text" }, text.slice(0, start), end > start && h("mark", { class: "dark" }, text.slice(start, end)), text.slice(end));
}

/** A snippet with the words of the question marked. @param {{text: string, marks: [number, number][]}} its */
export function snippet({ text, marks }) {
  return h("p", { class: "text" }, highlighted(text, marks));
}

/** A text with parts marked. @param {string} text @param {[number, number][]} marks */
export function highlighted(text, marks) {
  let at = 0;
  const parts = marks.flatMap(([start, end]) => {
    const before = text.slice(at, start);
    at = end;
    return [before, h("mark", {}, text.slice(start, end))];
  });
  return [...parts, text.slice(at)];
}

/**
 * A trail as sentences: from each passage the sentence that names the next one.
 * @param {Hop[]} hops
 * @param {(passage: string, event: MouseEvent) => unknown} open
 */
export function trail(hops, open) {
  if (hops.length === 0) return null;
  return h("section", { class: "trail", "aria-label": "The trail" }, h("h3", {}, icon("path"), "The trail"), h("ol", {}, hops.map((hop) => {
    const title = h("button", { type: "button", class: "hop-title" }, hop.title);
    title.addEventListener("click", (event) => open(hop.passage, event));
    const { sentence, start, end } = hop;
    return h("li", {}, title, h("p", { class: "text" }, sentence.slice(0, start), end > start && h("mark", {}, sentence.slice(start, end)), sentence.slice(end)));
  })));
}
