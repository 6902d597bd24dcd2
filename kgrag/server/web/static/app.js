// The frame of all pages: navigation, the open collection, and the module of each page.
import { address, ApiError, get } from "./api.js";
import { attempt, button, empty, fill, h, icon, loading, place, problem, select } from "./dom.js";

/**
 * The data of a page at its start; see GET /api/v1/start.
 * @typedef {{version: string, name: string, role: "read" | "write" | "admin", all: boolean, locked: boolean, model: string,
 *   fast: string, thorough: string, search: string, systems: {name: string, meaning: string}[],
 *   retrievers: {name: string, meaning: string}[], collections: string[], looks: Record<string, string>,
 *   upload_files: number, upload_bytes: number}} Start
 */

/**
 * The context of a page. `signal` aborts when the page is left; `collection` is the open one, or "".
 * @typedef {{start: Start, collection: string, path: string[], query: URLSearchParams, signal: AbortSignal,
 *   go: (to: string, its?: {replace?: boolean, quiet?: boolean}) => void, title: (text: string) => void,
 *   may: (role: "write" | "admin") => boolean, history: () => Promise<void>, begin: () => Promise<void>, about: (collection: string) => void}} App
 */

/** @typedef {(view: HTMLElement, app: App) => Promise<unknown>} Show */
/** A conversation; `last`: when its last question was asked. @typedef {{id: string, title: string, last: string}} Heading */

const ROLES = ["read", "write", "admin"];
const KEPT = "kgrag-collection", SHOWN = 200; // characters of a title
const MANY = 8, TOGETHER = 100, TYPING = 250; // conversations from which they are searched, and of a page; milliseconds
/** @type {[string, string, string, () => Promise<{show: Show}>][]} */
const PAGES = [
  ["ask", "Ask", "ask", () => import("./ask.js")],
  ["library", "Library", "library", () => import("./library.js")],
  ["graph", "Graph", "graph", () => import("./graph.js")],
  ["admin", "Admin", "admin", () => import("./admin.js")],
];
/** @type {Record<string, () => Promise<{show: Show}>>} */
const OTHERS = { passage: () => import("./passage.js"), document: () => import("./passage.js") };

/** @type {Start} */
let start;
let leaving = new AbortController();

/** @param {string} role */
const may = (role) => ROLES.indexOf(start.role) >= ROLES.indexOf(role);

/** The collection in an address, or "". */
function named() {
  const [first = "", second = ""] = location.pathname.split("/").filter(Boolean);
  return new URLSearchParams(location.search).get("collection") ?? (first in OTHERS ? decodeURIComponent(second) : "");
}

/** The open collection: of the address, or the last one of this tab, or of any tab. */
function chosen() {
  for (const name of [named(), sessionStorage.getItem(KEPT) ?? "", localStorage.getItem(KEPT) ?? ""]) {
    if (start.collections.includes(name)) return name;
  }
  return start.collections.includes("default") ? "default" : start.collections[0] ?? "";
}

/** Open a collection in this tab and in new ones. @param {string} name */
function keep(name) {
  sessionStorage.setItem(KEPT, name);
  localStorage.setItem(KEPT, name);
}

/** The address of a page with its collection. @param {string} to */
function whole(to) {
  const target = new URL(to, location.origin), name = chosen();
  if (!/^\/(ask|library|graph|admin)?$/.test(target.pathname) || target.searchParams.has("collection") || !name) return to;
  target.searchParams.set("collection", name);
  return target.pathname + target.search + target.hash;
}

/** Reload the data of the start. */
async function begin() {
  start = await get("/api/v1/start");
}

/** @param {string} to @param {{replace?: boolean, quiet?: boolean}} [options] `quiet`: keep the current page */
function go(to, options = {}) {
  to = whole(to);
  if (options.replace) history.replaceState(null, "", to);
  else if (to !== location.pathname + location.search) history.pushState(null, "", to);
  if (!options.quiet && !options.replace) void route();
  else frame();
}

/** Show the page of the current address. */
async function route() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const path = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const first = path[0] ?? "ask";
  const load = PAGES.find(([name]) => name === first)?.[3] ?? OTHERS[first];
  const view = place("main");
  const present = named(), address = whole(location.pathname + location.search + location.hash);
  if (start.collections.includes(present)) keep(present);
  if (address !== location.pathname + location.search + location.hash) history.replaceState(history.state, "", address);
  frame();
  view.className = first;
  view.scrollTop = 0;
  if (!load || (first === "admin" && !may("admin"))) {
    fill(view, h("div", { class: "page-body" }, empty("There is no such page.", "It has moved, or the address has a typing error.", h("a", { class: "button main", href: "/" }, "Ask something"))));
    return;
  }
  if (present && !start.collections.includes(present)) {
    fill(view, h("div", { class: "page-body" }, empty(`There is no collection “${present}”`, "It was removed or renamed, or your key may not see it.",
      h("a", { class: "button main", href: "/library?tab=collections" }, "See the collections"))));
    return;
  }
  fill(view, loading());
  /** @type {App} */
  const app = {
    start, collection: chosen(), path: path.slice(1), query: new URLSearchParams(location.search), signal, go, may, history: () => showHistory(), begin,
    title: (text) => { document.title = text ? `${text.slice(0, SHOWN)} · kgrag` : "kgrag"; },
    about: (name) => { if (start.collections.includes(name) && name !== chosen()) { keep(name); frame(); } },
  };
  app.title(PAGES.find(([name]) => name === first)?.[1] ?? "");
  try {
    const page = await load();
    if (!signal.aborted) await page.show(view, app);
  } catch (error) {
    if (!signal.aborted) fill(view, h("div", { class: "page-body" }, problem(error, button({ title: "Try again", icon: "again", onclick: route }))));
  }
}

/** Draw the frame of the page. */
function frame() {
  const first = location.pathname.split("/")[1] || "ask";
  const collection = chosen();
  const side = place("side");
  fill(place("top"),
    h("span", { class: "menu" }, button({ icon: "menu", label: "Show all pages", onclick: () => side.classList.toggle("open") })),
    h("a", { class: "brand", href: "/" }, h("img", { src: "/assets/logo.svg", alt: "", width: 26, height: 26 }), "kgrag"),
    start.collections.length > 0 && select(start.collections.map((name) => [name, name]), collection, choose, { "aria-label": "Collection" }),
    h("span", { class: "space" }),
    button({ icon: "light", label: "Light or dark", onclick: turnTheme }),
    start.locked && h("form", { method: "post", action: "/logout", onsubmit: () => sessionStorage.clear() }, h("span", { class: "row" },
      h("button", { type: "submit", class: "button bare", title: `Log out ${start.name}`, "aria-label": `Log out ${start.name}` }, icon("leave")))));
  const links = PAGES.filter(([name]) => name !== "admin" || may("admin")).map(([name, title, symbol]) =>
    h("a", { class: "page", href: whole(name === "ask" ? "/" : `/${name}`), "aria-current": name === first && "page" }, icon(symbol), title));
  side.classList.remove("open");
  fill(side, links, talks);
  showCurrent();
}

// The list of conversations: grouped by day, with a search, older ones page by page.
const finder = h("input", { type: "search", placeholder: "Find a conversation", "aria-label": "Find a conversation", hidden: true });
const list = h("div", {}), more = button({ title: "Older", icon: "down", onclick: () => showHistory(past.before ?? "") });
const talks = h("div", { class: "history" }, finder, list, more);
/**
 * The listed conversations and their links. `before`: start of the next page, or null; `searched`: the words of the search.
 * @type {{rows: Heading[], links: Map<string, HTMLAnchorElement>, before: string | null, searched: string, timer: number, asked: number}}
 */
const past = { rows: [], links: new Map(), before: null, searched: "", timer: 0, asked: 0 };
finder.addEventListener("input", () => {
  clearTimeout(past.timer);
  past.timer = setTimeout(() => attempt(() => showHistory()), TYPING);
});
new IntersectionObserver(([seen]) => { if (seen?.isIntersecting) more.click(); }).observe(more);

/** Show the newest conversations of the visitor, and with a moment also earlier ones. @param {string} [before] */
async function showHistory(before = "") {
  const mine = ++past.asked, search = finder.value.trim();
  const page = /** @type {{conversations: Heading[], before: string | null}} */ (await get(address(["conversations"], { limit: TOGETHER, search, before })));
  if (mine !== past.asked) return;
  const fresh = page.conversations, ids = new Set(fresh.map(({ id }) => id)), same = search === past.searched;
  const older = same && page.before !== null ? past.rows.filter(({ id, last }) => !ids.has(id) && last < (page.before ?? "")) : [];
  if (before || older.length === 0) past.before = page.before;
  past.rows = before ? [...past.rows, ...fresh] : [...fresh, ...older];
  past.searched = search;
  finder.hidden = past.rows.length <= MANY && !search;
  more.hidden = past.before === null;
  let day = "";
  fill(list, past.rows.flatMap(({ id, title, last }) => {
    const over = day;
    day = dayOf(last);
    const link = past.links.get(id) ?? h("a", { href: `/ask/${id}`, dir: "auto" });
    past.links.set(id, link);
    Object.assign(link, { title });
    if (link.textContent !== title) link.textContent = title;
    return [day !== over && h("h2", {}, day), link];
  }), past.rows.length === 0 && search && h("p", { class: "hint" }, "No conversation has these words."));
  showCurrent();
}

/** Mark the current conversation. */
function showCurrent() {
  for (const link of list.querySelectorAll("a")) link.ariaCurrent = link.pathname === location.pathname ? "true" : null;
}

/** The day of a moment, in words if it is recent. @param {string} moment ISO 8601 */
function dayOf(moment) {
  const days = Math.floor((new Date().setHours(24, 0, 0, 0) - Date.parse(moment)) / 86_400_000);
  return days <= 0 ? "Today" : days === 1 ? "Yesterday" : days < 7 ? "Last 7 days" : new Date(moment).toLocaleDateString("en-GB", { month: "long", year: "numeric" });
}

/** Open another collection on the same page. @param {string} name */
function choose(name) {
  const first = location.pathname.split("/")[1] || "", tab = new URLSearchParams(location.search).get("tab");
  const to = ["library", "graph", "admin"].includes(first) ? `/${first}` : "/";
  go(`${to}?${new URLSearchParams({ ...(tab ? { tab } : {}), collection: name })}`);
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = dark ? "light" : "dark";
  localStorage.setItem("kgrag-theme", root.dataset["theme"]);
}

addEventListener("popstate", () => {
  const open = document.querySelector(".sources:not([hidden])"), source = document.body.dataset["back"];
  delete document.body.dataset["back"];
  if (source) return;
  if (open && matchMedia("(max-width: 1000px)").matches) open.setAttribute("hidden", ""); // Back closes a source first
  else void route();
});
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || link.target || link.origin !== location.origin) return;
  const to = link.getAttribute("href") ?? "";
  if (!to.startsWith("/") || /^\/(api|v1|assets|logout|login)\b/.test(to)) return;
  event.preventDefault();
  go(to);
  place("main").focus({ preventScroll: true });
});

async function open() {
  try {
    await begin();
    await route();
    void attempt(() => showHistory());
  } catch (error) {
    fill(place("main"), h("div", { class: "page-body" }, problem(error instanceof ApiError ? error : new Error(String(error)), button({ title: "Try again", icon: "again", onclick: open }))));
  }
}

await open();
