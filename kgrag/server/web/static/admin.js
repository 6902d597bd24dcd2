// The Admin pages: keys, all jobs, the health of collections, ratings of answers, and usage.
import { address, get, post, remove } from "./api.js";
import { agreed, button, count, counted, dialog, empty, field, fill, h, icon, problem, say, select, when } from "./dom.js";
import { badge, figure, into, jobList, money } from "./jobs.js";
import { findingPanel, tabs } from "./library.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {{name: string, role: "read" | "write" | "admin", collections: string[], created: string}} Key */
/**
 * @typedef {{id: string, conversation: string, question: string, good: boolean, remark: string, created: string, collections: string[]}}
 *   Opinion
 */
/** @typedef {{name: string, questions: number, tokens: number, cost: number | null}} Spent */

/** @type {[string, string, (app: App) => Promise<Node | Node[]>][]} */
const TABS = [["keys", "Keys", keysTab], ["jobs", "Jobs", async (app) => jobList(app)], ["health", "Health", healthTab],
  ["opinions", "Opinions", opinionsTab], ["spending", "Spending", spendingTab]];
/** @type {Record<Key["role"], string>} */
const ROLES = { read: "Read: search and ask", write: "Write: also add and delete documents",
  admin: "Admin: also delete collections and create keys" };

const OPEN = "Everybody who reaches this server may do everything. The first key locks it: from then on everybody needs one.";
const REMOVING = "The server refuses this key at once. This cannot be undone, but you can create another key.";
const FIRST = "From then on everybody needs a key, including you. The first one is an admin key of all collections, " +
  "so that you can make the others with it.";

/** @param {HTMLElement} view @param {App} app */
export async function show(view, app) {
  const [name, title, load] = TABS.find(([id]) => id === app.query.get("tab")) ?? /** @type {(typeof TABS)[0]} */ (TABS[0]);
  const body = h("div", { class: "col" });
  app.title(`${title} · Admin`);
  fill(view, h("div", { class: "page-body" }, h("div", { class: "page-head" }, h("h1", {}, "Admin"), h("p", { class: "quiet" },
    `kgrag ${app.start.version}`)),
    tabs("Admin", TABS.map(([id, caption]) => [id, caption]), name, (id) => id === "keys" ? "/admin" : `/admin?tab=${id}`), body));
  await into(body, app.signal, () => load(app));
}

// ----- keys

/** @param {App} app */
async function keysTab(app) {
  if (!app.start.all) return [me(app), empty("Not for this key",
    "Your key is limited to some collections. Only an admin key of all collections can create keys.")];
  const keys = /** @type {Key[]} */ ((await get(address(["keys"]), app.signal)).keys);
  const add = button({ title: "Add a key", icon: "plus", kind: "main", onclick: () => addKey(app, keys) });
  return [me(app), h("div", { class: "row" }, h("h2", { class: "grow" }, "Keys"), keys.length > 0 ? add : ""),
    keys.length === 0 ? empty("No keys yet", OPEN, add)
      : h("div", { class: "table-box" }, h("table", { class: "keys-table" },
        h("thead", {}, h("tr", {}, ["Name", "Role", "Collections", "Made", ""].map((title) => h("th", {}, title)))),
        h("tbody", {}, keys.map((key) => keyRow(app, key)))))];
}

/** The visitor and the rights of their key. @param {App} app */
function me(app) {
  const { name, role, all, locked, collections } = app.start;
  return h("section", { class: "panel row me", "aria-label": "You" }, icon("person"), h("div", { class: "grow" },
    h("p", { class: "strong" }, locked ? name : "You are on the computer of the server"),
    h("p", { class: "quiet" }, locked ? ROLES[role] : "The server is open: it has no keys, so only this computer reaches it."),
      h("p", { class: "hint" }, all ? "All collections" : `Collections: ${collections.join(", ")}`)),
  badge(role, "on", "key"));
}

/** @param {App} app @param {Key} key */
function keyRow(app, key) {
  const own = app.start.locked && key.name === app.start.name;
  return h("tr", {}, h("td", { class: "strong" }, key.name, own && [" ", badge("you", "on")]),
    h("td", {}, badge(key.role, key.role === "admin" ? "on" : "")), h("td", {}, key.collections.join(", ") || "All"),
    h("td", { class: "nowrap" }, when(key.created)),
    h("td", { class: "tight" }, button({ icon: "bin", label: own ? "You cannot remove the key that you are using"
      : `Remove ${key.name}`, disabled: own, onclick: () => removeKey(app, key) })));
}

/** @param {App} app @param {Key} key */
async function removeKey(app, key) {
  if (!await agreed(`Remove ${key.name}?`, REMOVING, "Remove it", true)) return;
  await remove(address(["keys", key.name]));
  say(`${key.name} is removed.`);
  app.go("/admin");
}

/** @param {App} app @param {Key[]} keys all keys */
async function addKey(app, keys) {
  const first = keys.length === 0;
  const key = await dialog(first ? "The first key" : "Add a key",
    (/** @type {(asked: {name: string, role: string, collections: string[]}) => void} */ close) => keyForm(app, first, close));
  if (!key) return;
  const { name, token } = /** @type {{name: string, token: string}} */ (await post(address(["keys"]), key));
  await showToken(name, token);
  if (first && !app.start.locked) location.assign("/login?next=/admin");
  else app.go("/admin");
}

/** @param {App} app @param {boolean} first @param {(asked: {name: string, role: string, collections: string[]}) => void} close */
function keyForm(app, first, close) {
  const name = h("input", { type: "text", required: true, maxLength: 64, autocomplete: "off", placeholder: first ? "For example: admin"
    : "For example: the name of its user" });
  const roles = select(Object.entries(ROLES), first ? "admin" : "read", undefined, { disabled: first });
  const ticks = app.start.collections.map((collection) => h("input", { type: "checkbox", value: collection }));
  const some = h("fieldset", { class: "ticks", hidden: true }, h("legend", {}, "Which"),
    ticks.map((tick) => h("label", { class: "tick" }, tick, h("span", {}, tick.value))));
  const which = select([["all", "All, including future ones"], ["some", "Only some"]], "all", (value) => { some.hidden = value !== "some"; },
    { disabled: first });
  const wrong = h("p", { class: "small warned", role: "alert" });
  const submitted = (/** @type {Event} */ event) => {
    event.preventDefault();
    const collections = which.value === "some" ? ticks.filter((tick) => tick.checked).map((tick) => tick.value) : [];
    if (which.value === "some" && collections.length === 0) wrong.textContent = "Choose at least one collection.";
    else if (name.value.trim()) close({ name: name.value.trim(), role: roles.value, collections });
  };
  return [first && h("div", { class: "panel row warning" }, icon("warn"), h("p", { class: "grow" },
    FIRST)),
    h("form", { class: "col", onsubmit: submitted }, field("Name", name), field("Role", roles), field("Collections", which), some, wrong,
      h("div", { class: "row end" }, button({ title: "Make the key", kind: "main", type: "submit" })))];
}

/** @param {string} name @param {string} token */
function showToken(name, token) {
  const input = h("input", { type: "text", readOnly: true, value: token, class: "token", onfocus: () => input.select() });
  return dialog(`The key ${name}`, (close) => [h("p", { class: "dialog-text" }, "Copy it now and keep it safe: it is shown only once."),
    h("div", { class: "row end-field" }, h("div", { class: "grow" }, field("Key", input)),
      button({ title: "Copy", icon: "copy", kind: "line", onclick: async () => {
      input.select();
      await navigator.clipboard.writeText(token).catch(() => {
        throw new Error("The browser does not allow that. Press Ctrl+C: the key is selected.");
      });
      say("Copied.");
    } })), h("div", { class: "row end" }, button({ title: "I have it", kind: "main", onclick: () => close(true) }))]);
}

// ----- health

/** @param {App} app */
async function healthTab(app) {
  const model = app.start.model, boxes = app.start.collections.map((name) => ({ name, box: h("div", { class: "col" }) }));
  const database = h("dd", {}, "Looking");
  void get("/readyz", app.signal).then(() => fill(database, badge("Answers", "ok", "check")),
    () => fill(database, badge("Does not answer", "wrong", "error")));
  void (async () => {
    for (const { name, box } of boxes) if (!app.signal.aborted) await into(box, app.signal,
      () => health(app, name)); // one at a time: each looks through all that it has
  })();
  return [h("dl", { class: "panel figures" }, figure("Version", app.start.version), h("div", {}, h("dt", {}, "Database"), database),
    figure("Language model", model || "none is set up"), figure("Collections", count(app.start.collections.length))),
    boxes.length > 0 ? h("div", { class: "col" }, boxes.map(({ name, box }) => h("section", { class: "col", "aria-label": name },
      h("h2", {}, name), box))) : empty("No collections yet", "Their health appears here.")];
}

/** @param {App} app @param {string} name */
async function health(app, name) {
  const { findings } = await get(address(["collections", name, "inspect"]), app.signal);
  const wrong = findings.filter((/** @type {{level: string}} */ one) => one.level !== "note").length;
  const summary = h("p", { class: "row" }, wrong === 0 ? badge("Healthy", "ok", "check") : badge(counted(wrong, "problem"), "wrong", "error"));
  return [summary, ...findings.map((/** @type {import("./library.js").Finding} */ one) => findingPanel(app, one, name))];
}

// ----- opinions and spending

/** @param {App} app */
async function opinionsTab(app) {
  const opinions = /** @type {Opinion[]} */ ((await get(address(["opinions"]), app.signal)).opinions);
  if (opinions.length === 0) return empty("No ratings yet",
    "Ratings of answers (thumb up, thumb down) appear here.");
  const list = h("ul", { class: "opinions" }), bad = opinions.filter(({ good }) => !good).length;
  /** @param {string} which */
  const draw = (which) => fill(list, opinions.filter(({ good }) => which === "all" || good === (which === "good")).map(opinion));
  draw("all");
  const which = select([["all", `All (${count(opinions.length)})`], ["good", `Good (${count(opinions.length - bad)})`],
    ["bad", `Not good (${count(bad)})`]], "all", draw, { "aria-label": "Which opinions" });
  return [h("div", { class: "row" }, h("div", {}, which)), list];
}

/** @param {Opinion} entry */
function opinion(entry) {
  return h("li", { class: "panel col" }, h("div", { class: "row" }, entry.good ? badge("Good", "ok", "good") : badge("Not good", "warn",
    "bad"), h("a", { class: "grow strong", href: `/ask/${encodeURIComponent(entry.conversation)}`, dir: "auto" }, entry.question),
    h("span", { class: "hint" }, when(entry.created))),
    entry.remark && h("p", { class: "text" }, entry.remark), h("p", { class: "hint" }, entry.collections.join(", ")));
}

/** @param {App} app */
async function spendingTab(app) {
  const spent = /** @type {Spent[]} */ ((await get(address(["spending"]), app.signal)).spending);
  if (spent.length === 0) return empty("No questions yet", "The usage of the language model by key appears here.");
  const sum = (/** @type {"questions" | "tokens" | "cost"} */ name) => spent.reduce((all, row) => all + (row[name] ?? 0), 0);
  /** @param {Spent} entry @param {string} kind */
  const row = (entry, kind) => h("tr", { class: kind }, h("td", {}, entry.name), h("td", { class: "number" }, count(entry.questions)),
    h("td", { class: "number" }, count(entry.tokens)), h("td", { class: "number" }, entry.cost === null ? "not known" : money(entry.cost)));
  return [h("div", { class: "table-box" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "Key"), ["Questions", "Tokens", "Cost"].map((title) => h("th", { class: "number" }, title)))),
    h("tbody", {}, spent.map((entry) => row(entry, "")), spent.length > 1 && row({ name: "All", questions: sum("questions"),
      tokens: sum("tokens"), cost: spent.every((entry) => entry.cost === null) ? null : sum("cost") }, "strong")))),
  h("p", { class: "hint" }, "The usage of questions asked on these pages. “Not known”: the model has no price",
    " (KGRAG_CHAT__PRICES).")];
}
