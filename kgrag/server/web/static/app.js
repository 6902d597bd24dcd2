// The frame of all pages: where one is, the collection that is looked at, and which module shows what.
import { ApiError, get } from "./api.js";
import { attempt, button, empty, fill, h, icon, loading, place, problem, select } from "./dom.js";

/**
 * What a page begins with; see GET /api/v1/start.
 * @typedef {{version: string, name: string, role: "read" | "write" | "admin", all: boolean, locked: boolean, model: string,
 *   fast: string, thorough: string, search: string, systems: {name: string, meaning: string}[],
 *   retrievers: {name: string, meaning: string}[], collections: string[], looks: Record<string, string>,
 *   upload_files: number, upload_bytes: number}} Start
 */

/**
 * What a page works with. `signal` ends when the page is left, `collection` is the chosen one, "" where there is none.
 * @typedef {{start: Start, collection: string, path: string[], query: URLSearchParams, signal: AbortSignal,
 *   go: (to: string, its?: {replace?: boolean, quiet?: boolean}) => void, title: (text: string) => void,
 *   may: (role: "write" | "admin") => boolean, history: () => Promise<void>, begin: () => Promise<void>}} App
 */

/** @typedef {(view: HTMLElement, app: App) => Promise<unknown>} Show */

const ROLES = ["read", "write", "admin"];
const KEPT = "kgrag-collection";
/** @type {[string, string, string, () => Promise<{show: Show}>][]} */
const PAGES = [
  ["ask", "Ask", "ask", () => import("./ask.js")],
  ["library", "Library", "library", () => import("./library.js")],
  ["graph", "Graph", "graph", () => import("./graph.js")],
  ["lab", "Lab", "lab", () => import("./lab.js")],
  ["admin", "Admin", "admin", () => import("./admin.js")],
];
/** @type {Record<string, () => Promise<{show: Show}>>} */
const OTHERS = { passage: () => import("./passage.js"), document: () => import("./passage.js") };

/** @type {Start} */
let start;
let leaving = new AbortController();

/** @param {string} role */
const may = (role) => ROLES.indexOf(start.role) >= ROLES.indexOf(role);

/** The collection that is looked at: of the address, else the one that was chosen last. */
function chosen() {
  const named = new URLSearchParams(location.search).get("collection") ?? decodeURIComponent(location.pathname.split("/")[2] ?? "");
  for (const name of [named, localStorage.getItem(KEPT) ?? ""]) {
    if (start.collections.includes(name)) return name;
  }
  return start.collections.includes("default") ? "default" : start.collections[0] ?? "";
}

/** Learn again what there is. */
async function begin() {
  start = await get("/api/v1/start");
}

/** @param {string} to @param {{replace?: boolean, quiet?: boolean}} [its] `quiet`: the page that is shown stays */
function go(to, its = {}) {
  if (its.replace) history.replaceState(null, "", to);
  else if (to !== location.pathname + location.search) history.pushState(null, "", to);
  if (!its.quiet && !its.replace) void route();
  else frame();
}

/** Show the page of the address. */
async function route() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const path = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const first = path[0] ?? "ask";
  const load = PAGES.find(([name]) => name === first)?.[3] ?? OTHERS[first];
  const view = place("main");
  const named = new URLSearchParams(location.search).get("collection");
  if (named && start.collections.includes(named)) localStorage.setItem(KEPT, named);
  frame();
  view.className = first;
  view.scrollTop = 0;
  if (!load || (first === "admin" && !may("admin"))) {
    fill(view, h("div", { class: "page-body" }, empty("There is no such page.", "It has moved, or the address is mistyped.", h("a", { class: "button main", href: "/" }, "Ask something"))));
    return;
  }
  fill(view, loading());
  /** @type {App} */
  const app = {
    start, collection: chosen(), path: path.slice(1), query: new URLSearchParams(location.search), signal, go, may, history: showHistory, begin,
    title: (text) => { document.title = text ? `${text} · kgrag` : "kgrag"; },
  };
  app.title(PAGES.find(([name]) => name === first)?.[1] ?? "");
  try {
    const page = await load();
    if (!signal.aborted) await page.show(view, app);
  } catch (error) {
    if (!signal.aborted) fill(view, h("div", { class: "page-body" }, problem(error, button({ title: "Try again", icon: "again", onclick: route }))));
  }
}

/** Draw what is around the page. */
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
    start.locked && h("form", { method: "post", action: "/logout" }, h("span", { class: "row" },
      h("button", { type: "submit", class: "button bare", title: `Log out ${start.name}`, "aria-label": `Log out ${start.name}` }, icon("leave")))));
  const links = PAGES.filter(([name]) => name !== "admin" || may("admin")).map(([name, title, drawn]) =>
    h("a", { class: "page", href: name === "ask" ? "/" : `/${name}`, "aria-current": name === first && "page" }, icon(drawn), title));
  side.classList.remove("open");
  const old = side.querySelector(".history");
  fill(side, links, old ?? h("div", { class: "history" }));
  for (const link of side.querySelectorAll(".history a")) {
    if (link.getAttribute("href") === location.pathname) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/** The conversations of the visitor, at the side. */
async function showHistory() {
  const { conversations } = await get("/api/v1/conversations?limit=40");
  const box = place("side").querySelector(".history");
  if (!box) return;
  fill(box, conversations.length > 0 && h("h2", {}, "Conversations"), conversations.map((/** @type {{id: string, title: string}} */ its) =>
    h("a", { href: `/ask/${its.id}`, title: its.title, "aria-current": location.pathname === `/ask/${its.id}` && "true" }, its.title)));
}

/** Look at another collection, on the same page. @param {string} name */
function choose(name) {
  localStorage.setItem(KEPT, name);
  const first = location.pathname.split("/")[1] || "";
  const here = new URLSearchParams(location.search), kept = new URLSearchParams();
  const tab = here.get("tab");
  if (tab) kept.set("tab", tab);
  const asked = kept.toString();
  const to = ["library", "graph", "lab", "admin"].includes(first) ? `/${first}` : "/";
  go(to + (asked && `?${asked}`));
  if (location.pathname + location.search === to + (asked && `?${asked}`)) void route();
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = dark ? "light" : "dark";
  localStorage.setItem("kgrag-theme", root.dataset["theme"]);
}

addEventListener("popstate", () => void route());
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || link.target || link.origin !== location.origin) return;
  const to = link.getAttribute("href") ?? "";
  if (!to.startsWith("/") || /^\/(api|v1|assets|logout|login)\b/.test(to)) return;
  event.preventDefault();
  go(to);
  place("main").focus({ preventScroll: true });
});

try {
  await begin();
  await route();
  void attempt(showHistory);
} catch (error) {
  fill(place("main"), h("div", { class: "page-body" }, problem(error instanceof ApiError ? error : new Error(String(error)), button({ title: "Try again", icon: "again", onclick: () => location.reload() }))));
}
