// The building blocks of pages: elements, icons, messages and dialogs. Texts are never parsed as HTML.

/** @typedef {Node | string | number | false | null | undefined} Child */
/** @typedef {Record<string, unknown>} Props */

const SVG = "http://www.w3.org/2000/svg", RETRY = 3000; // milliseconds

/**
 * Create an element. In `props`, functions become listeners (`onclick`), `class`, `data-...` and `aria-...` attributes, and
 * names of properties of the element are set as such. Skips false, null and undefined.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name in element && name !== "list" && name !== "form") Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, ...children);
  return element;
}

/**
 * Create an SVG element; `props` become attributes, and functions listeners.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter(shown).map(asNode));
  return element;
}

/**
 * Set the children of an element. Children that it already has stay untouched, with focus, selection and scroll.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const nodes = children.flat().filter(shown).map(asNode).flatMap((node) => node instanceof DocumentFragment ? [...node.childNodes] : node);
  const kept = new Set(nodes);
  for (const old of [...element.childNodes]) if (!kept.has(old)) old.remove();
  let next = element.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else element.insertBefore(node, next);
  }
}

/**
 * Morph the children of an element into those of another one. Nodes of the same kind stay, and take over the differences.
 * Listeners stay, too, so they must read changing data from their element.
 * @param {Node} to
 * @param {Node} from
 */
export function morph(to, from) {
  let old = to.firstChild;
  for (const node of [...from.childNodes]) {
    const here = old;
    old = here?.nextSibling ?? null;
    if (!here) to.appendChild(node);
    else if (here.nodeName !== node.nodeName) to.replaceChild(node, here);
    else if (here instanceof Text && node instanceof Text) {
      if (node.data.startsWith(here.data)) here.appendData(node.data.slice(here.data.length));
      else here.data = node.data;
    } else if (here instanceof Element && node instanceof Element) {
      for (const { name, value } of node.attributes) if (here.getAttribute(name) !== value) here.setAttribute(name, value);
      morph(here, node);
    }
  }
  while (old) {
    const next = old.nextSibling;
    to.removeChild(old);
    old = next;
  }
}

/** @param {Child} child */
function shown(child) {
  return child !== false && child !== null && child !== undefined;
}

/** @param {Child} child */
function asNode(child) {
  return child instanceof Node ? child : new Text(String(child));
}

// Icons of one family: 24 by 24, lines of 1.75, round ends.
/** @type {Record<string, string>} */
const ICONS = {
  ask: "M4 5h16v11H10l-4 4v-4H4z",
  library: "M4 4h5v16H4zM10 4h4v16h-4zM15.5 4.8l3.9-1 4 15.4-3.9 1z",
  graph: "M6 6m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M18 8m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M10 18m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M8.4 6.6l7.1 1M7 8.3l2.2 7.3M16.3 9.8l-4.6 6.4",
  admin: "M12 3l8 3v6c0 4.5-3.3 7.7-8 9c-4.7-1.3-8-4.5-8-9V6z",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 20V5M6 11l6-6l6 6",
  stop: "M7 7h10v10H7z",
  again: "M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  share: "M12 15V4M8 8l4-4l4 4M5 13v7h14v-7",
  good: "M7 11v9H4v-9zM7 11l4-8c1.7 0 2.5 1 2.5 2.5L13 9h6a1.8 1.8 0 0 1 1.8 2.2l-1.5 7A2.2 2.2 0 0 1 17.2 20H7",
  bad: "M17 13V4h3v9zM17 13l-4 8c-1.7 0-2.5-1-2.5-2.5L11 15H5a1.8 1.8 0 0 1-1.8-2.2l1.5-7A2.2 2.2 0 0 1 6.8 4H17",
  download: "M12 4v11M8 11l4 4l4-4M5 20h14",
  upload: "M12 20V9M8 13l4-4l4 4M5 4h14",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  search: "M10.5 10.5m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M15 15l5.5 5.5",
  bin: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  replace: "M4 9h13M13 5l4 4l-4 4M20 15H7M11 11l-4 4l4 4",
  left: "M15 5l-7 7l7 7",
  right: "M9 5l7 7l-7 7",
  down: "M5 9l7 7l7-7",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  pin: "M9 4h6l-1 6l4 4H6l4-4zM12 14v7",
  expand: "M12 5v4M12 15v4M5 12h4M15 12h4M12 12m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  hide: "M4 4l16 16M9.9 5.2A9 9 0 0 1 21 12a15 15 0 0 1-2 2.8M6.5 6.8A14 14 0 0 0 3 12a9.5 9.5 0 0 0 12.5 6",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  path: "M6 18m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M18 6m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 18h5a4 4 0 0 0 4-4V8",
  clock: "M12 12m-8 0a8 8 0 1 0 16 0a8 8 0 1 0-16 0M12 8v4l3 2",
  key: "M8 15m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0M11 12l8-8M16 7l3 3",
  warn: "M12 4l9 16H3zM12 10v4M12 17v.500",
  error: "M12 12m-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v6M12 16v.500",
  check: "M5 12l5 5l9-10",
  light: "M12 12m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  person: "M12 8m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0M4 21c0-4 3.5-7 8-7s8 3 8 7",
  play: "M7 5l12 7l-12 7z",
  leave: "M14 4h6v16h-6M10 8l-4 4l4 4M6 12h10",
};

/**
 * Create an icon, which is hidden from screen readers.
 * @param {string} name
 */
export function icon(name) {
  const picture = s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" });
  picture.append(s("path", { d: ICONS[name] ?? "" }));
  return picture;
}

/**
 * Create a button with an icon, a title, or both; `label` names it if there is no title.
 * @param {{icon?: string, title?: string, label?: string, kind?: "main" | "plain" | "danger" | "line",
 *   onclick?: (event: MouseEvent) => unknown, type?: "button" | "submit", disabled?: boolean, pressed?: boolean}} options
 */
export function button(options) {
  const element = h("button", {
    type: options.type ?? "button",
    class: `button ${options.kind ?? "plain"}${options.title ? "" : " bare"}`,
    "aria-label": options.label,
    title: options.title ? undefined : options.label,
    disabled: options.disabled ?? false,
    "aria-pressed": options.pressed === undefined ? undefined : String(options.pressed),
  }, options.icon && icon(options.icon), options.title && h("span", {}, options.title));
  const does = options.onclick;
  if (does) element.addEventListener("click", (event) => attempt(() => does(event)));
  return element;
}

/**
 * Create a field with its name above it.
 * @param {string} name
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export function field(name, control, hint) {
  control.id ||= `f${++lastId}`;
  return h("div", { class: "field" }, h("label", { htmlFor: control.id }, name), control, hint && h("p", { class: "hint" }, hint));
}

let lastId = 0;

/**
 * Create a select; options are [value, shown] pairs.
 * @param {[string, string][]} options
 * @param {string} value
 * @param {(value: string) => unknown} [changed]
 * @param {Props} [props]
 */
export function select(options, value, changed, props = {}) {
  const field = h("select", props, options.map(([option, title]) => h("option", { value: option, selected: option === value }, title)));
  if (changed) field.addEventListener("change", () => attempt(() => changed(field.value)));
  return field;
}

/** The placeholder during loading. @param {string} [text] */
export function loading(text = "Loading") {
  return h("p", { class: "loading", role: "status" }, h("span", { class: "spinner" }), text);
}

/**
 * The placeholder of an empty page, with an explanation and actions.
 * @param {string} title
 * @param {string} text
 * @param {...Child} actions
 */
export function empty(title, text, ...actions) {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", {}, text), actions.length > 0 && h("div", { class: "row" }, actions));
}

/**
 * Show an error instead of the page, with its remedy. While the server is away, the first action is retried automatically.
 * @param {unknown} error
 * @param {...Child} actions
 */
export function problem(error, ...actions) {
  const { message, remedy, id } = words(error), again = actions.find((one) => one instanceof HTMLButtonElement);
  const { status } = /** @type {{status?: number}} */ (error ?? {}), away = again && status !== undefined && (status === 0 || status >= 502);
  if (away) setTimeout(() => again.isConnected && again.click(), RETRY);
  return h("div", { class: "problem", role: "alert" }, icon("error"), h("div", {},
    h("p", { class: "strong" }, message), remedy && h("p", {}, remedy), away && h("p", {}, "kgrag will try again."), id && h("p", { class: "hint" }, `Request ${id}`),
    actions.length > 0 && h("div", { class: "row" }, actions)));
}

/** @param {unknown} error @returns {{message: string, remedy: string, id: string}} */
export function words(error) {
  const details = /** @type {{message?: unknown, remedy?: unknown, id?: unknown}} */ (error ?? {});
  return { message: String(details.message ?? error), remedy: String(details.remedy ?? ""), id: String(details.id ?? "") };
}

/**
 * Show a message at the edge of the page for some seconds; `action`: a button in it.
 * @param {string} text
 * @param {{error?: boolean, action?: {title: string, does: () => unknown}, seconds?: number}} [options]
 */
export function say(text, options = {}) {
  const seconds = options.seconds ?? (options.error ? 12 : 5);
  const { action } = options;
  const close = () => note.remove();
  /** @type {HTMLElement} */
  const note = h("div", { class: `note${options.error ? " wrong" : ""}`, role: options.error ? "alert" : "status" }, h("span", {}, text),
    action && button({ title: action.title, onclick: () => { close(); return action.does(); } }),
    button({ icon: "close", label: "Close", onclick: close }));
  for (const old of place("notes").children) if (old.textContent === note.textContent) old.remove();
  place("notes").append(note);
  setTimeout(close, seconds * 1000);
}

/** Run an action of the visitor, and show its error. @param {() => unknown} does */
export async function attempt(does) {
  try {
    await does();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    const { message, remedy } = words(error);
    say(`${message} ${remedy}`.trim(), { error: true });
  }
}

/**
 * Show a dialog; resolves to the argument of `close`, or to undefined if it is dismissed.
 * @template T
 * @param {string} title
 * @param {(close: (value: T) => void) => Child[]} content
 * @param {string} [kind] "wide"
 * @returns {Promise<T | undefined>}
 */
export function dialog(title, content, kind = "") {
  return new Promise((resolve) => {
    /** @type {T | undefined} */
    let result;
    const box = h("dialog", { "aria-label": title, class: kind });
    fill(box, h("div", { class: "dialog-head" }, h("h2", {}, title), button({ icon: "close", label: "Close", onclick: () => box.close() })),
      content((value) => { result = value; box.close(); }));
    box.addEventListener("close", () => { box.remove(); resolve(result); });
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    document.body.append(box);
    box.showModal();
    const first = box.querySelector("textarea, input, select, .button.main") ?? box.querySelector(".dialog-head ~ * button");
    if (first instanceof HTMLElement) first.focus();
  });
}

/**
 * Ask the visitor for confirmation.
 * @param {string} title
 * @param {string | Node} text
 * @param {string} yes
 * @param {boolean} [danger]
 */
export async function agreed(title, text, yes, danger = false) {
  return (await dialog(title, (/** @type {(value: boolean) => void} */ close) => [
    h("div", { class: "dialog-text" }, text),
    h("div", { class: "row end" }, button({ title: "Not now", onclick: () => close(false) }),
      button({ title: yes, kind: danger ? "danger" : "main", onclick: () => close(true) })),
  ])) === true;
}

/** An element of the frame. @param {string} id */
export function place(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no ${id}.`);
  return element;
}

/** Format a number. @param {number} value */
export const count = (value) => value.toLocaleString("en-US");

/** "1 file", "2 files". @param {number} number @param {string} one @param {string} [more] */
export const counted = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;

/** @type {Record<string, string>} a label of the graph -> its name for readers */
const KINDS = { Entity: "Name", Triple: "Fact", Community: "Topic", Run: "Kept answer" };

/** The name for readers of nodes with a label. @param {string} label */
export const kind = (label) => KINDS[label] ?? label;

/** Format a moment: the time if it is today, otherwise the day. @param {string} moment ISO 8601 */
export function when(moment) {
  if (!moment) return "";
  const then = new Date(moment), today = new Date();
  return then.toDateString() === today.toDateString()
    ? then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

/** Format a size in bytes. @param {number} bytes */
export const size = (bytes) => bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
