// Draws a part of the graph by forces: nodes repel each other, and edges attract. A selected node can be expanded, pinned,
// removed and opened, by pointer, touch or keyboard.

import { attempt, button, count, counted, fill, h, icon, kind, s, say } from "./dom.js";
import { around, lies, middle, overlap, round, seat, step, way } from "./layout.js";

/** @typedef {{id: string, label: string, caption: string, properties: Record<string, unknown>}} DrawnNode */
/** @typedef {{start: string, end: string, type: string, caption: string, properties: Record<string, unknown>}} DrawnEdge */
/** @typedef {{nodes: DrawnNode[], edges: DrawnEdge[]}} Drawing */
/**
 * A node with its position. `old`: it existed before the nodes being added, and moves little.
 * @typedef {{id: string, node: DrawnNode, title: string, x: number, y: number, vx: number, vy: number, r: number, ties: number,
 *   pinned: boolean, old: boolean, group: SVGGElement, disc: SVGCircleElement, name: SVGTextElement, named: boolean}} Spot
 */
/**
 * An edge between two spots. `bend`: the distance of its middle from the straight line, which separates parallel edges.
 * @typedef {{start: Spot, end: Spot, edge: DrawnEdge, title: string, bend: number, line: SVGPathElement, name: SVGTextElement,
 *   named: boolean}} Tie
 */
/** The viewport: offset and zoom. @typedef {{x: number, y: number, k: number}} Sight */
/** @typedef {import("./layout.js").Box} Box */

/** Maximum number of nodes. */
export const MOST = 300;

const EXPANDED = ["Entity", "Passage", "Document"], OPENED = ["Entity", "Passage"];
const GREY = "#A5ABB6";
const COLD = 0.006, COOLING = 0.974; // some 200 steps
const BUDGET = 10; // milliseconds of a frame for forces
const LETTERS = 12, SHORT = 26; // pixels of a caption, and its characters unless it is looked at
const FEW_EDGES = 40, NEAR_ENOUGH = 1.5; // edges that are captioned anyhow, and the zoom from which on all are
const CROWD = 12; // neighbours whose captions may lie over each other, and hubs whose captions may lie over circles
const SMALLEST = 0.08, LARGEST = 6;
const TWICE = 350; // milliseconds in which a second click may follow: nothing moves away under it

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const narrow = matchMedia("(max-width: 45rem)");
const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
/** @type {Map<string, number>} */
const widths = new Map();
let views = 0;

export class GraphView {
  #looks; #expand; #open; #embedded;
  /** @type {Map<string, Spot>} */ #spots = new Map();
  /** @type {Map<string, Tie>} */ #ties = new Map();
  /** @type {Map<string, string>} what a node is called in a reply -> its id here */ #ids = new Map();
  /** @type {Map<string, string>} an entity's name -> its id here */ #entities = new Map();
  /** @type {Set<string>} labels that are not shown */ #hidden = new Set();
  /** @type {Set<Spot> | null} */ #path = null;
  /** @type {Spot | null} */ #chosen = null;
  /** @type {Spot | null} */ #hovered = null;
  /** @type {Spot | null} what Tab comes to */ #current = null;
  /** @type {Spot[]} brought into sight once all stand */ #fresh = [];
  #cut = false;
  #heat = 0;
  #frame = 0;
  #later = 0;
  #moved = true;
  /** @type {Sight} */ #sight = { x: 0, y: 0, k: 1 };
  /** @type {{from: Sight, to: Sight, start: number} | null} */ #glide = null;
  #follow = true; // the whole drawing stays in sight until the visitor looks elsewhere
  #width = 0; #height = 0;
  #covered = { right: 0, bottom: 0 }; // by details
  /** @type {Map<number, {x: number, y: number}>} */ #pointers = new Map();
  /** @type {{spot: Spot | null, x: number, y: number, going: boolean} | null} */ #drag = null;
  #dragged = false; // the click that ends a drag means nothing

  /**
   * @param {{looks: Record<string, string>, expand: (node: DrawnNode) => Promise<Drawing>, open?: (node: DrawnNode) => void,
   *   height?: string}} its `looks`: a label or type -> its colour; `height`: a CSS height if the drawing is part of a page
   */
  constructor({ looks, expand, open, height }) {
    this.#looks = looks;
    this.#expand = expand;
    this.#open = open;
    this.#embedded = height !== undefined;
    const number = ++views;
    this.lines = s("g", { class: "graph-lines" });
    this.captions = s("g", { class: "graph-captions", "aria-hidden": "true" });
    this.circles = s("g", {});
    this.names = s("g", { class: "graph-names", "aria-hidden": "true" });
    this.ground = s("g", {}, this.lines, this.captions, this.circles, this.names);
    this.svg = s("svg", { class: "graph-canvas", role: "group", "aria-describedby": `graph-keys-${number}` }, this.ground);
    this.details = h("section", { class: "graph-details", "aria-label": "Details", hidden: true });
    this.notice = h("p", { class: "graph-notice", role: "status" });
    this.kinds = h("div", { class: "graph-kinds" });
    this.legend = h("details", { class: "graph-legend", open: !narrow.matches }, h("summary", {}, "Legend"), this.kinds);
    this.options = h("datalist", { id: `graph-nodes-${number}` });
    this.finder = this.#makeFinder(number);
    const top = h("div", { class: "graph-top" }, this.finder, this.#makeTools());
    this.element = h("div", { class: `graph-view${this.#embedded ? " within" : ""}` },
      h("p", { id: `graph-keys-${number}`, class: "unseen" }, "Enter shows details. N and P, or Control with an arrow, go to "
        + "another node; arrows move the drawing; plus, minus and 0 zoom."),
      top, this.svg, this.details, this.legend, this.notice);
    if (height) this.element.style.height = height;
    this.#listen();
    this.#tell();
    new ResizeObserver(() => this.#resized()).observe(this.svg);
  }

  /** Add nodes and edges. @param {Drawing} drawn */
  add({ nodes, edges }) {
    const before = [...this.#spots.values()];
    this.#cut = false;
    const fresh = /** @type {Spot[]} */ (nodes.map((node) => this.#join(node)).filter((spot) => spot !== null));
    let ties = 0;
    for (const edge of edges) ties += Number(this.#tie(edge));
    for (const spot of before) spot.old = true;
    this.#bend();
    seat(fresh, before, [...this.#ties.values()]);
    this.#fresh = fresh.length > 0 && before.length > 0 ? fresh : [];
    if (fresh.length + ties > 0) this.#warm(before.length > 0 ? 0.5 : 1);
    this.#changed();
  }

  /** Remove all nodes. */
  clear() {
    for (const group of [this.lines, this.captions, this.circles, this.names]) group.replaceChildren();
    for (const map of [this.#spots, this.#ties, this.#ids, this.#entities]) map.clear();
    this.#chosen = this.#hovered = this.#current = this.#path = null;
    this.#fresh = [];
    this.#cut = false;
    this.#heat = 0;
    this.#follow = true;
    this.#describe();
    this.#changed();
  }

  /** Select a node, and bring it into view; null clears the selection. @param {string | null} id */
  choose(id) {
    this.#choose(id === null ? null : this.#spot(id));
  }

  /** Highlight a path; null clears it. @param {Iterable<string> | null} ids */
  highlight(ids) {
    const spots = ids === null ? [] : [...ids].map((id) => this.#spot(id)).filter((spot) => spot !== null);
    this.#path = spots.length > 0 ? new Set(/** @type {Spot[]} */ (spots)) : null;
    this.#mark();
  }

  /** @param {string} id */
  #spot(id) {
    return this.#spots.get(this.#ids.get(id) ?? id) ?? null;
  }

  /**
   * Add a node under its id. Entities with equal captions become one node, since trails know only their names.
   * @param {DrawnNode} node
   */
  #join(node) {
    let id = String(node.properties?.id ?? node.id);
    if (node.label === "Entity") {
      id = this.#entities.get(node.caption) ?? id;
      this.#entities.set(node.caption, id);
    }
    this.#ids.set(node.id, id);
    const there = this.#spots.get(id);
    if (there) there.node.properties = { ...node.properties, ...there.node.properties };
    else if (this.#spots.size >= MOST) this.#cut = true;
    else return this.#place(id, node);
    return null;
  }

  /** @param {string} id @param {DrawnNode} node @returns {Spot} */
  #place(id, node) {
    const text = node.properties?.text;
    const title = node.caption === node.label && text ? String(text) : node.caption || kind(node.label);
    const disc = s("circle", { class: "graph-disc" });
    const group = s("g", { class: "graph-spot", role: "button", tabindex: "-1", "aria-pressed": "false",
      "aria-label": `${title}, ${kind(node.label)}`, "data-id": id, color: this.#colour(node.label) }, disc);
    const name = s("text", { dy: "1.15em" });
    this.circles.append(group);
    const spot = { id, node: { ...node, properties: { ...node.properties } }, title, x: NaN, y: NaN, vx: 0, vy: 0, r: 0, ties: 0,
      pinned: false, old: false, group, disc, name, named: false };
    this.#spots.set(id, spot);
    return spot;
  }

  /** Add an edge unless it exists or lacks an end; return whether it is new. @param {DrawnEdge} edge */
  #tie(edge) {
    const start = this.#spot(edge.start), end = this.#spot(edge.end);
    if (!start || !end) return false;
    const key = JSON.stringify([start.id, end.id, edge.caption]);
    if (this.#ties.has(key)) return false;
    const line = s("path", { class: "graph-line", color: this.#colour(edge.type) });
    const title = plain(edge);
    const name = s("text", { dy: "0.35em" });
    this.lines.append(line);
    this.#ties.set(key, { start, end, edge, title, bend: 0, line, name, named: false });
    return true;
  }

  /** @param {string} name a label or a type */
  #colour(name) {
    return this.#looks[name === "Question" ? "Run" : name] ?? GREY;
  }

  /** Separate parallel edges, and size circles by their number of edges. */
  #bend() {
    /** @type {Map<string, Tie[]>} */
    const pairs = new Map();
    for (const spot of this.#spots.values()) spot.ties = 0;
    for (const tie of this.#ties.values()) {
      tie.start.ties++;
      tie.end.ties++;
      const pair = [tie.start.id, tie.end.id].sort().join("\n");
      pairs.set(pair, [...(pairs.get(pair) ?? []), tie]);
    }
    for (const pair of pairs.values()) {
      pair.forEach((tie, place) => {
        tie.bend = (place - (pair.length - 1) / 2) * 26 * (tie.start.id < tie.end.id ? 1 : -1);
      });
    }
    for (const spot of this.#spots.values()) {
      spot.r = Math.min(36, 15 + 3.2 * Math.sqrt(spot.ties));
      spot.disc.setAttribute("r", spot.r.toFixed(1));
    }
  }

  /** @param {Spot} spot */
  #shown(spot) {
    return !this.#hidden.has(spot.node.label);
  }

  #seen() {
    return [...this.#spots.values()].filter((spot) => this.#shown(spot));
  }

  #seenTies() {
    return [...this.#ties.values()].filter((tie) => this.#shown(tie.start) && this.#shown(tie.end));
  }

  /** @param {Spot} spot */
  #tiesOf(spot) {
    return this.#seenTies().filter((tie) => tie.start === spot || tie.end === spot);
  }

  /** Update legend, names and details after a change. */
  #changed() {
    this.#moved = true;
    if (!this.#current || !this.#shown(this.#current)) this.#enterAt(this.#seen()[0] ?? null);
    for (const spot of this.#spots.values()) spot.group.classList.toggle("off", !this.#shown(spot));
    for (const tie of this.#ties.values()) tie.line.classList.toggle("off", !this.#shown(tie.start) || !this.#shown(tie.end));
    this.#tell();
    if (this.#chosen) this.#describe();
    this.#mark();
  }

  /** Update the legend, the notice and the accessible name of the drawing. */
  #tell() {
    const seen = this.#seen();
    this.svg.setAttribute("aria-label", `Part of the graph: ${counted(seen.length, "node")}, ${counted(this.#seenTies().length, "edge")}`);
    this.notice.textContent = this.#cut ? `Only ${MOST} nodes are drawn; remove some to see more.` : "";
    /** @type {Map<string, number>} */
    const kinds = new Map();
    for (const spot of this.#spots.values()) kinds.set(spot.node.label, (kinds.get(spot.node.label) ?? 0) + 1);
    const focused = this.kinds.contains(document.activeElement) ? /** @type {HTMLInputElement} */ (document.activeElement).value : null;
    fill(this.kinds, [...kinds].map(([label, number]) => this.#kind(label, number)));
    if (focused) [...this.kinds.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
    this.legend.hidden = this.finder.hidden = kinds.size === 0;
  }

  /** @param {string} label @param {number} number */
  #kind(label, number) {
    const box = h("input", { type: "checkbox", value: label, checked: !this.#hidden.has(label) });
    box.addEventListener("change", () => this.#filter(label, box.checked));
    return h("label", { class: "graph-kind" }, box, this.#dot(label), h("span", {}, kind(label)),
      h("span", { class: "graph-count" }, count(number)));
  }

  /** @param {string} label */
  #dot(label) {
    const dot = h("span", { class: "graph-dot", "aria-hidden": "true" });
    dot.style.backgroundColor = this.#colour(label);
    return dot;
  }

  /** @param {string} label @param {boolean} visible */
  #filter(label, visible) {
    if (visible) this.#hidden.delete(label);
    else this.#hidden.add(label);
    if (this.#chosen && !this.#shown(this.#chosen)) this.#choose(null);
    this.#changed();
  }

  // ---------------------------------------------------------------------------------------------- moving and painting

  /** Start the forces. @param {number} heat */
  #warm(heat) {
    this.#heat = Math.max(this.#heat, heat);
    this.#wake();
  }

  #wake() {
    this.#frame ||= requestAnimationFrame((now) => this.#paint(now));
  }

  /** Run some steps of the forces, and update the page. @param {number} now */
  #paint(now) {
    this.#frame = 0;
    const hot = this.#heat > COLD;
    if (hot) {
      this.#settle();
      if (calm.matches && this.#heat > COLD) return this.#wake(); // drawn once all stand
    }
    this.#look(now, hot);
    const moved = this.#moved;
    this.#moved = false;
    if (moved) this.#write();
    else this.#caption();
    if (moved || this.#glide) this.#wake(); // captions have a frame of their own
  }

  #settle() {
    const spots = this.#seen(), ties = this.#seenTies();
    const wide = Math.min(2, Math.max(0.5, (this.#width || 1) / (this.#height || 1)));
    const until = performance.now() + (calm.matches ? 2 * BUDGET : BUDGET);
    do {
      step(spots, ties, this.#heat, wide);
      this.#heat *= COOLING;
    } while (this.#heat > COLD && performance.now() < until);
    this.#moved = true;
    if (this.#heat <= COLD && !this.#drag) this.#stand();
  }

  /** When all nodes rest, bring the newest ones into view. */
  #stand() {
    for (const spot of this.#spots.values()) spot.old = false;
    if (this.#fresh.some((spot) => this.#shown(spot) && !this.#inSight(spot))) this.fit();
    this.#fresh = [];
  }

  /** Apply the viewport. @param {number} now @param {boolean} hot whether the forces have moved nodes */
  #look(now, hot) {
    if (this.#glide) {
      const { from, start } = this.#glide, to = this.#follow ? this.#whole() : this.#glide.to;
      const share = calm.matches ? 1 : Math.min(1, Math.max(0, now - start) / 260), eased = 1 - (1 - share) ** 3;
      const k = from.k * (to.k / from.k) ** eased;
      const along = from.k === to.k ? eased : (k - from.k) / (to.k - from.k); // straight on the screen, whatever the zoom
      this.#sight = { x: from.x + (to.x - from.x) * along, y: from.y + (to.y - from.y) * along, k };
      if (share === 1) this.#glide = null;
    } else if (this.#follow && hot) this.#sight = this.#whole();
    const { x, y, k } = this.#sight;
    this.ground.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    const size = `${(this.#letters() / k).toFixed(2)}px`;
    for (const texts of [this.names, this.captions]) if (texts.style.fontSize !== size) texts.style.fontSize = size;
  }

  /** The size of captions on the screen. */
  #letters() {
    return LETTERS * Math.min(1.35, Math.max(1, this.#sight.k));
  }

  #write() {
    for (const spot of this.#spots.values()) {
      change(spot.group, "transform", `translate(${round(spot.x)} ${round(spot.y)})`);
      if (spot.named) putName(spot);
    }
    for (const tie of this.#ties.values()) {
      change(tie.line, "d", way(tie));
      if (tie.named) putCaption(tie);
    }
  }

  /** Choose the captions to show: those near the focus, and others if there is room. Unchanged while nodes move. */
  #caption() {
    if (this.#heat > COLD) return;
    const near = this.#near(), few = near.size > 0 && near.size <= CROWD + 1;
    const lookedAt = new Set(few ? near : []);
    for (const spot of [this.#chosen, this.#hovered]) if (spot) lookedAt.add(spot);
    for (const spot of this.#spots.values()) if (!this.#shown(spot)) this.#show(spot, false, short(spot.title));
    this.#captionEdges(this.#captionNodes(near, lookedAt), few);
  }

  /** Return the boxes that circles and names cover. @param {Set<Spot>} near @param {Set<Spot>} lookedAt */
  #captionNodes(near, lookedAt) {
    /** @param {Spot} spot */
    const rank = (spot) => Number(lookedAt.has(spot)) * 4e4 + Number(near.has(spot)) * 2e4 + Number(this.#path?.has(spot) ?? false) * 1e4
      + spot.ties + Number(spot.title.length <= SHORT); // a whole name before one that is cut
    const faint = this.#path;
    const seen = this.#seen(), discs = seen.map((spot) => this.#discBox(spot));
    /** @type {Box[]} */
    const areas = [];
    let hubs = CROWD;
    for (const spot of seen.sort((a, b) => rank(b) - rank(a))) {
      const whole = spot === this.#chosen || spot === this.#hovered;
      const box = this.#nameBox(spot, whole ? spot.title : short(spot.title));
      const free = lookedAt.has(spot) || (this.#onScreen(box) && !lies(box, areas) && (hubs > 0 || !lies(box, discs)));
      this.#show(spot, free && !(faint && !faint.has(spot) && !lookedAt.has(spot)), whole ? spot.title : short(spot.title));
      if (!spot.named) continue;
      hubs--;
      putName(spot);
      areas.push(box);
    }
    return areas.concat(discs);
  }

  /** @param {Box[]} areas @param {boolean} few whether all that are asked for are shown, whatever they lie over */
  #captionEdges(areas, few) {
    const seen = this.#seenTies(), all = !this.#path && (seen.length < FEW_EDGES || this.#sight.k >= NEAR_ENOUGH);
    const selection = new Set(seen.filter((tie) => this.#asked(tie)));
    const fitting = new Set([...selection, ...(all ? seen : [])].filter((tie) => this.#fits(tie)));
    for (const tie of fitting) {
      const box = this.#captionBox(tie), forced = few && selection.has(tie);
      if (!forced && (!this.#onScreen(box) || lies(box, areas))) fitting.delete(tie);
      else areas.push(box);
    }
    for (const tie of this.#ties.values()) {
      this.#show(tie, fitting.has(tie), short(tie.title));
      if (tie.named) putCaption(tie);
    }
  }

  /** @param {Spot | Tie} label @param {boolean} named @param {string} text */
  #show(label, named, text) {
    if (label.named && !named) label.name.remove();
    else if (named && !label.named) ("node" in label ? this.names : this.captions).append(label.name);
    label.named = named;
    if (named && label.name.textContent !== text) label.name.textContent = text;
  }

  /** Whether an edge is at a focused node or on the path. @param {Tie} tie */
  #asked({ start, end }) {
    const looked = this.#hovered ?? this.#chosen;
    return start === looked || end === looked || ((this.#path?.has(start) && this.#path.has(end)) ?? false);
  }

  /** Whether an edge is long enough for its caption. @param {Tie} tie */
  #fits({ start, end, title }) {
    const room = (Math.hypot(end.x - start.x, end.y - start.y) - start.r - end.r) * this.#sight.k;
    return start === end || room > this.#textWidth(short(title)) * 0.9;
  }

  /** The box of a caption on the screen, shrunk because captions are rotated. @param {Tie} tie @returns {Box} */
  #captionBox(tie) {
    const { x, y, k } = this.#sight, at = middle(tie), wide = this.#textWidth(short(tie.title)) * 0.9, high = this.#letters();
    const dx = tie.end.x - tie.start.x, dy = tie.end.y - tie.start.y, far = Math.hypot(dx, dy) || 1;
    const cos = Math.abs(dx) / far, sin = Math.abs(dy) / far;
    const w = (wide * cos + high * sin) * 0.4, u = (wide * sin + high * cos) * 0.4;
    return [at.x * k + x - w, at.y * k + y - u, at.x * k + x + w, at.y * k + y + u];
  }

  /** @param {string} text */
  #textWidth(text) {
    let width = widths.get(text);
    if (width === undefined) {
      if (widths.size === 0) pen.font = `${LETTERS}px ${getComputedStyle(document.body).fontFamily}`;
      widths.set(text, width = pen.measureText(text).width);
    }
    return width * this.#letters() / LETTERS;
  }

  /** The box of a name on the screen. @param {Spot} spot @param {string} text @returns {Box} */
  #nameBox(spot, text) {
    const { x, y, k } = this.#sight, half = this.#textWidth(text) / 2 + 3;
    const middle = spot.x * k + x, top = (spot.y + spot.r) * k + y;
    return [middle - half, top, middle + half, top + this.#letters() * 1.4];
  }

  /** @param {Spot} spot @returns {Box} */
  #discBox(spot) {
    const { x, y, k } = this.#sight, r = spot.r * k * 0.85;
    return [spot.x * k + x - r, spot.y * k + y - r, spot.x * k + x + r, spot.y * k + y + r];
  }

  /** @param {Box} box */
  #onScreen(box) {
    return overlap(box, [0, 0, this.#width, this.#height]);
  }

  /** The focused nodes and their neighbours. @returns {Set<Spot>} */
  #near() {
    /** @type {Set<Spot>} */
    const near = new Set();
    for (const spot of [this.#hovered ?? this.#chosen]) {
      if (!spot) continue;
      near.add(spot);
      for (const tie of this.#tiesOf(spot)) near.add(tie.start).add(tie.end);
    }
    return near;
  }

  /** Mark the selected and hovered nodes, and the path. */
  #mark() {
    const looked = [this.#chosen, this.#hovered];
    this.svg.classList.toggle("graph-path", this.#path !== null);
    for (const spot of this.#spots.values()) {
      const { classList } = spot.group, isChosen = spot === this.#chosen;
      classList.toggle("chosen", isChosen);
      classList.toggle("pinned", spot.pinned);
      classList.toggle("strong", looked.includes(spot) || (this.#path?.has(spot) ?? false));
      if (spot.group.getAttribute("aria-pressed") !== String(isChosen)) spot.group.setAttribute("aria-pressed", String(isChosen));
    }
    for (const tie of this.#ties.values()) {
      const both = (this.#path?.has(tie.start) && this.#path.has(tie.end)) ?? false;
      tie.line.classList.toggle("strong", both || looked.includes(tie.start) || looked.includes(tie.end));
    }
    this.#wake();
  }

  // ----------------------------------------------------------------------------------------------------- the viewport

  /** Fit the whole drawing into the view. */
  fit() {
    this.#follow = true;
    this.#glideTo(this.#whole());
  }

  /** The visible part of the drawing, without panels. @returns {Box} */
  #room() {
    return [0, 48, this.#width - this.#covered.right, this.#height - this.#covered.bottom];
  }

  /** The viewport of the whole drawing. @returns {Sight} */
  #whole() {
    const [left, top, right, bottom] = this.#room();
    const box = around(this.#seen());
    const aside = Math.min(80, (right - left) / 8), above = Math.min(32, (bottom - top) / 10); // room for names
    const k = Math.min(1.4, Math.max(SMALLEST, Math.min((right - left - 2 * aside) / (box[2] - box[0] || 1),
      (bottom - top - 2 * above) / (box[3] - box[1] || 1))));
    return { k, x: (left + right) / 2 - k * (box[0] + box[2]) / 2, y: (top + bottom) / 2 - k * (box[1] + box[3]) / 2 };
  }

  /** @param {Sight} to */
  #glideTo(to) {
    this.#glide = { from: this.#sight, to, start: performance.now() };
    this.#wake();
  }

  /** Zoom about a point of the screen. @param {number} factor @param {number} [x] @param {number} [y] */
  #zoom(factor, x = this.#width / 2, y = this.#height / 2) {
    const from = this.#glide?.to ?? this.#sight;
    const k = Math.min(LARGEST, Math.max(SMALLEST, from.k * factor)), share = k / from.k;
    this.#leave({ k, x: x - (x - from.x) * share, y: y - (y - from.y) * share });
  }

  /** @param {number} dx @param {number} dy */
  #pan(dx, dy) {
    this.#leave({ ...this.#sight, x: this.#sight.x + dx, y: this.#sight.y + dy });
  }

  /** Move the viewport for the visitor. @param {Sight} to */
  #leave(to) {
    this.#follow = false;
    this.#glide = null;
    this.#sight = to;
    this.#wake();
  }

  /** @param {Spot} spot */
  #inSight(spot) {
    const [left, top, right, bottom] = this.#room(), { x, y, k } = this.#sight;
    const sx = spot.x * k + x, sy = spot.y * k + y, r = spot.r * k;
    return sx - r >= left && sx + r <= right && sy - r >= top && sy + r <= bottom;
  }

  /** Bring a node into view. @param {Spot} spot */
  #reveal(spot) {
    if (this.#inSight(spot) || !Number.isFinite(spot.x)) return;
    const [left, top, right, bottom] = this.#room(), k = Math.max(this.#sight.k, 0.6);
    this.#follow = false;
    this.#glideTo({ k, x: (left + right) / 2 - spot.x * k, y: (top + bottom) / 2 - spot.y * k });
  }

  #resized() {
    this.#width = this.svg.clientWidth;
    this.#height = this.svg.clientHeight;
    this.#cover();
    if (this.#follow) this.#sight = this.#whole();
    this.#wake();
  }

  // ---------------------------------------------------------------------------------------------------- pointers and keys

  #listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.#down(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) svg.addEventListener(end, (event) => this.#up(event));
    svg.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") this.#hover(this.#at(event)); });
    svg.addEventListener("pointerleave", () => this.#hover(null));
    svg.addEventListener("click", (event) => this.#clicked(event));
    svg.addEventListener("dblclick", (event) => {
      const spot = this.#at(event);
      if (spot) attempt(() => this.#more(spot));
    });
    svg.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
    svg.addEventListener("keydown", (event) => this.#pressed(event));
    svg.addEventListener("focusin", (event) => this.#enterAt(this.#at(event)));
  }

  /** The node of an event. @param {Event} event */
  #at(event) {
    const group = event.target instanceof Element ? event.target.closest(".graph-spot") : null;
    return group ? this.#spots.get(group.getAttribute("data-id") ?? "") ?? null : null;
  }

  /** The position of a pointer on the drawing. @param {MouseEvent} event */
  #point(event) {
    const box = this.svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0) return;
    this.#pointers.set(event.pointerId, this.#point(event));
    this.#dragged = this.#pointers.size > 1;
    this.#drag = this.#pointers.size > 1 ? null : { spot: this.#at(event), ...this.#point(event), going: false };
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = this.#point(event);
    if (this.#pointers.size === 2) {
      this.#pinch(event.pointerId, now);
    } else if (this.#drag) {
      if (!this.#drag.going && Math.hypot(now.x - this.#drag.x, now.y - this.#drag.y) < 4) return;
      if (!this.#drag.going) this.#beginDrag(event);
      if (this.#drag.spot) this.#dragTo(this.#drag.spot, now);
      else this.#pan(now.x - before.x, now.y - before.y);
    }
    this.#pointers.set(event.pointerId, now);
  }

  /** @param {PointerEvent} event */
  #beginDrag(event) {
    const drag = this.#drag;
    if (!drag) return;
    drag.going = this.#dragged = true;
    this.svg.setPointerCapture(event.pointerId);
    this.svg.classList.add("dragging");
    if (!drag.spot) return;
    const tied = new Set(this.#tiesOf(drag.spot).flatMap((tie) => [tie.start, tie.end]));
    for (const spot of this.#spots.values()) spot.old = !tied.has(spot);
    drag.spot.pinned = true;
    this.#follow = false;
    this.#mark();
  }

  /** @param {Spot} spot @param {{x: number, y: number}} to */
  #dragTo(spot, to) {
    const { x, y, k } = this.#sight;
    spot.x = (to.x - x) / k;
    spot.y = (to.y - y) / k;
    this.#moved = true;
    this.#warm(0.2);
  }

  /** Zoom and pan by two fingers. @param {number} id @param {{x: number, y: number}} now */
  #pinch(id, now) {
    const [a, b] = [...this.#pointers.values()], after = new Map(this.#pointers).set(id, now), [c, d] = [...after.values()];
    const factor = Math.hypot(c.x - d.x, c.y - d.y) / (Math.hypot(a.x - b.x, a.y - b.y) || 1);
    this.#zoom(factor, (a.x + b.x) / 2, (a.y + b.y) / 2);
    this.#pan((c.x + d.x - a.x - b.x) / 2, (c.y + d.y - a.y - b.y) / 2);
  }

  /** @param {PointerEvent} event */
  #up(event) {
    this.#pointers.delete(event.pointerId);
    this.svg.classList.remove("dragging");
    if (this.#drag?.going && this.#drag.spot && this.#drag.spot === this.#chosen) this.#describe();
    this.#drag = null;
  }

  /** @param {Spot | null} spot */
  #hover(spot) {
    if (spot === this.#hovered || this.#drag?.going) return;
    this.#hovered = spot;
    this.#mark();
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    if (this.#dragged) return;
    const spot = this.#at(event);
    if (!spot) this.#current?.group.focus({ preventScroll: true }); // so that keys work on the drawing
    this.#choose(spot, TWICE);
  }

  /** Zoom by the wheel; within a page, only once the drawing is in use. @param {WheelEvent} event */
  #wheeled(event) {
    if (this.#embedded && !event.ctrlKey && !this.element.contains(document.activeElement)) return;
    event.preventDefault();
    const { x, y } = this.#point(event), lines = event.deltaMode === 1 ? 30 : 1;
    this.#zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), x, y);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const spot = this.#at(event), toward = ARROWS[event.key];
    if (event.altKey || event.metaKey || (event.ctrlKey && !toward)) return;
    if (toward && event.ctrlKey) this.#go(spot && this.#nearest(spot, toward));
    else if (toward) this.#pan(-60 * toward[0], -60 * toward[1]);
    else if (event.key === "n" || event.key === "p") this.#go(this.#next(spot, event.key === "n" ? 1 : -1));
    else if (event.key === "+" || event.key === "=") this.#zoom(1.3);
    else if (event.key === "-") this.#zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape" && this.#chosen) this.#choose(null);
    else if ((event.key === "Enter" || event.key === " ") && spot) this.#choose(spot);
    else return;
    event.preventDefault();
  }

  /** @param {Spot | null} spot @param {number} by */
  #next(spot, by) {
    const seen = this.#seen();
    return seen[((spot ? seen.indexOf(spot) : -1) + by + seen.length) % seen.length] ?? null;
  }

  /** The nearest node in a direction. @param {Spot} spot @param {[number, number]} toward */
  #nearest(spot, [ax, ay]) {
    let nearest = null, least = Infinity;
    for (const other of this.#seen()) {
      const dx = other.x - spot.x, dy = other.y - spot.y, along = dx * ax + dy * ay, aside = Math.abs(dx * ay - dy * ax);
      const far = along + 2 * aside;
      if (along > Math.max(1, aside / 2) && far < least) [nearest, least] = [other, far];
    }
    return nearest;
  }

  /** Move the focus to a node. @param {Spot | null} spot */
  #go(spot) {
    if (!spot) return;
    spot.group.focus({ preventScroll: true });
    this.#reveal(spot);
  }

  /** Make a node the tab stop. @param {Spot | null} spot */
  #enterAt(spot) {
    if (spot === null && this.#seen().length > 0) return;
    this.#current?.group.setAttribute("tabindex", "-1");
    this.#current = spot;
    spot?.group.setAttribute("tabindex", "0");
  }

  // ------------------------------------------------------------------------------------------------- details and tools

  /** @param {Spot | null} spot @param {number} [wait] milliseconds before the drawing moves */
  #choose(spot, wait = 0) {
    clearTimeout(this.#later);
    this.#chosen = spot;
    this.#describe();
    this.#mark();
    if (spot) this.#later = window.setTimeout(() => { if (spot === this.#chosen) this.#reveal(spot); }, wait);
  }

  /** Show the details and actions of the selected node. */
  #describe() {
    const spot = this.#chosen;
    this.details.hidden = !spot;
    this.#covered = { right: 0, bottom: 0 };
    if (!spot) return fill(this.details);
    const { node } = spot, text = node.properties.text, top = this.details.dataset.of === spot.id ? this.details.scrollTop : 0;
    const focused = this.details.contains(document.activeElement) ? document.activeElement?.textContent : null;
    fill(this.details,
      h("div", { class: "graph-details-head" },
        h("div", {}, h("p", { class: "graph-label" }, this.#dot(node.label), kind(node.label)), h("h2", {}, spot.title)),
        button({ icon: "close", label: "Close details", onclick: () => this.#close() })),
      this.#actions(spot),
      text !== undefined && text !== spot.title && h("p", { class: "graph-text" }, String(text)),
      properties(spot), this.#neighbours(spot));
    this.details.dataset.of = spot.id;
    this.details.scrollTop = top;
    if (focused) [...this.details.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
    this.#cover();
  }

  /** Measure how much of the drawing the details cover. */
  #cover() {
    if (this.details.hidden) return;
    if (narrow.matches) this.#covered = { right: 0, bottom: this.details.offsetHeight };
    else this.#covered = { right: this.details.offsetWidth + 12, bottom: 0 };
  }

  #close() {
    const spot = this.#chosen;
    this.#choose(null);
    spot?.group.focus({ preventScroll: true });
  }

  /** @param {Spot} spot */
  #actions(spot) {
    const { node } = spot, hasId = !spot.id.startsWith(`${node.label} `) || node.label === "Entity"; // by more than a name
    return h("div", { class: "graph-actions" },
      hasId && EXPANDED.includes(node.label) && button({ icon: "expand", title: "Expand", kind: "line", onclick: () => this.#more(spot) }),
      this.#open && hasId && OPENED.includes(node.label)
        && button({ icon: "right", title: "Open", kind: "line", onclick: () => this.#open?.(node) }),
      button({ icon: "pin", title: spot.pinned ? "Let go" : "Pin", kind: "line", onclick: () => this.#pin(spot) }),
      button({ icon: "hide", title: "Remove", kind: "line", onclick: () => this.#remove(spot) }));
  }

  /** List the neighbours of a node by edge type. @param {Spot} spot */
  #neighbours(spot) {
    /** @type {Map<string, [Spot, DrawnEdge][]>} */
    const groups = new Map();
    for (const tie of this.#tiesOf(spot)) {
      const out = tie.start === spot, name = out ? `${tie.title} →` : `← ${tie.title}`;
      groups.set(name, [...(groups.get(name) ?? []), [out ? tie.end : tie.start, tie.edge]]);
    }
    return [...groups].map(([name, others]) => h("div", { class: "graph-tied" }, h("h3", {}, name),
      h("ul", {}, others.map(([other, edge]) => h("li", {}, this.#neighbour(other, edge))))));
  }

  /** @param {Spot} other @param {DrawnEdge} edge */
  #neighbour(other, edge) {
    const numbers = Object.entries(edge.properties ?? {}).filter(([, value]) => typeof value === "number");
    const link = h("button", { type: "button", class: "graph-neighbour" }, this.#dot(other.node.label), h("span", {}, other.title),
      numbers.length > 0 && h("span", { class: "graph-count" }, numbers.map(([name, value]) => `${name} ${read(value)}`).join(", ")));
    link.addEventListener("click", () => { this.#choose(other); this.details.querySelector("button")?.focus(); });
    link.addEventListener("pointerenter", () => this.#hover(other));
    link.addEventListener("pointerleave", () => this.#hover(null));
    return link;
  }

  /** Add the neighbours of a node. @param {Spot} spot */
  async #more(spot) {
    if (!EXPANDED.includes(spot.node.label) || spot.group.classList.contains("busy")) return;
    spot.group.classList.add("busy");
    try {
      const more = await this.#expand(spot.node), before = this.#spots.size + this.#ties.size;
      if (!this.#spots.has(spot.id)) return; // removed meanwhile
      this.add(more);
      if (this.#spots.size + this.#ties.size === before && !this.#cut) say("All its neighbours are drawn.");
    } finally {
      spot.group.classList.remove("busy");
    }
  }

  /** @param {Spot} spot */
  #pin(spot) {
    spot.pinned = !spot.pinned;
    if (!spot.pinned) {
      for (const other of this.#spots.values()) other.old = other !== spot;
      this.#warm(0.3);
    }
    this.#mark();
    this.#describe();
    [...this.details.querySelectorAll("button")].find((one) => one.textContent === (spot.pinned ? "Let go" : "Pin"))?.focus();
  }

  /** @param {Spot} spot */
  #remove(spot) {
    const next = this.#next(spot, 1);
    for (const [key, tie] of this.#ties) {
      if (tie.start !== spot && tie.end !== spot) continue;
      tie.line.remove();
      tie.name.remove();
      this.#ties.delete(key);
    }
    spot.group.remove();
    spot.name.remove();
    this.#spots.delete(spot.id);
    this.#path?.delete(spot);
    for (const [name, id] of this.#entities) if (id === spot.id) this.#entities.delete(name);
    this.#fresh = this.#fresh.filter((one) => one !== spot);
    this.#cut = false;
    if (this.#hovered === spot) this.#hovered = null;
    if (this.#current === spot) this.#current = null;
    this.#choose(null);
    this.#bend();
    this.#changed();
    if (next !== spot) next?.group.focus({ preventScroll: true });
  }

  /** Arrange all nodes again, except pinned ones. */
  #arrange() {
    const free = [...this.#spots.values()].filter((spot) => !spot.pinned);
    for (const spot of free) spot.x = spot.y = NaN;
    seat(free, [], []);
    this.#fresh = [];
    this.#follow = true;
    for (const spot of this.#spots.values()) spot.old = false;
    this.#warm(1);
  }

  #makeTools() {
    return h("div", { class: "graph-tools", role: "toolbar", "aria-label": "Drawing" },
      button({ icon: "plus", label: "Zoom in", onclick: () => this.#zoom(1.4) }),
      button({ icon: "minus", label: "Zoom out", onclick: () => this.#zoom(1 / 1.4) }),
      button({ icon: "fit", label: "Fit", onclick: () => this.fit() }),
      button({ icon: "again", label: "Arrange again", onclick: () => this.#arrange() }));
  }

  /** Create the box that finds a node in the drawing. @param {number} number */
  #makeFinder(number) {
    const box = h("input", { type: "search", placeholder: "Find in the drawing", "aria-label": "Find in the drawing",
      list: `graph-nodes-${number}`, autocomplete: "off" });
    box.addEventListener("focus", () => {
      fill(this.options, this.#seen().map((spot) => h("option", { value: spot.title }, kind(spot.node.label))));
    });
    box.addEventListener("input", () => { this.#find(box.value, true); });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && box.value.trim() && !this.#find(box.value, false)) say("No node in the drawing has this name.");
    });
    return h("div", { class: "graph-finder" }, icon("search"), box, this.options);
  }

  /** @param {string} text @param {boolean} whole whether the text is to be the whole name */
  #find(text, whole) {
    const sought = text.trim().toLowerCase();
    const match = this.#seen().find((spot) => spot.title.toLowerCase() === sought)
      ?? (whole ? undefined : this.#seen().find((spot) => spot.title.toLowerCase().includes(sought)));
    if (match && match !== this.#chosen) this.#choose(match);
    return match !== undefined;
  }
}

/** @type {Record<string, [number, number] | undefined>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Set an attribute only if it changes, since each assignment recomputes styles.
 * @param {Element} element
 * @param {string} name
 * @param {string} value
 */
function change(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** @param {Spot} spot */
function putName(spot) {
  spot.name.setAttribute("x", spot.x.toFixed(1));
  spot.name.setAttribute("y", (spot.y + spot.r).toFixed(1));
}

/** The rotation of a caption along its edge, never upside down. @param {Tie} tie */
function putCaption(tie) {
  const { start, end } = tie, { x, y } = start === end ? { x: start.x, y: start.y - 2.2 * start.r } : middle(tie);
  let angle = Math.atan2(end.y - start.y, end.x - start.x) * 180 / Math.PI;
  if (angle > 90) angle -= 180;
  else if (angle <= -90) angle += 180;
  tie.name.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(1)})`);
}

/** @param {string} text */
function short(text) {
  return text.length <= SHORT ? text : `${text.slice(0, SHORT - 1).trimEnd()}…`;
}

/** The words of an edge: "HAS_PASSAGE" is "has passage". @param {DrawnEdge} edge */
function plain({ type, caption }) {
  return caption.startsWith(type) ? type.toLowerCase().replaceAll("_", " ") + caption.slice(type.length) : caption;
}

/** @param {unknown} value */
function read(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(3))) : String(value);
}

/** The properties of a node, except its name and text. @param {Spot} spot */
function properties({ node, title }) {
  const entries = Object.entries(node.properties).filter(([name, value]) => !["text", "id", "normal"].includes(name) && value !== title);
  return entries.length > 0 && h("dl", { class: "graph-properties" },
    entries.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, read(value))]));
}
