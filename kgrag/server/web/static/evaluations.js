// The evaluations of the Lab: what was measured, one of it question by question, and two of them beside each other.
import { address, get } from "./api.js";
import { button, count, counted, empty, fill, h, icon, select, when } from "./dom.js";

/**
 * @typedef {import("./lab.js").Lab} Lab
 * @typedef {{id: string, system: string, dataset: string, collection: string, embedder: string, questions: number, when: string,
 *   measures: Record<string, number | null>}} Evaluation
 * @typedef {{ranks: (number | null)[], said: string}} Told
 * @typedef {Told & {question: string, answers: string[], error: string, system: string, search: boolean}} Asked
 * @typedef {{measure: string, one: number | null, other: number | null, difference: string, interval: string, verdict: string}} Line
 * @typedef {{one: Evaluation, other: Evaluation, rows: Line[], shared: number,
 *   questions: {question: string, answers: string[], one: Told, other: Told}[]}} Beside
 */

const FIRST = 5; // places among which gold counts as found
const PART = 100; // items that are shown at once
const WHOLE = ["questions", "errors", "tokens"], SHARES = /^(R@|answer@|EM$|F1$|Acc$|Struct-EM$|calls$|p\d+_ms$|wall_s$)/; // digits
/** @type {[string, string][]} */
const MEANINGS = [
  ["R@k", "the mean share, in per cent, of a question's gold among the first k documents"],
  ["perfect@8", "the share of questions with all gold among the first 8"],
  ["MRR", "the mean of 1 / rank of the first gold"],
  ["nDCG@10", "gold among the first 10, weighed by its rank"],
  ["answer@k", "the share of questions, in per cent, whose answer stands in one of the first k passages"],
  ["EM, F1", "the share of answers that are a known one, and the overlap of their words, both in per cent"],
  ["Acc", "the share of right answers, in per cent, of those that a language model marked"],
  ["calls, tokens, cost", "what language models did for a question, and what all of it cost"],
  ["p50_ms, p95_ms", "milliseconds that half, and 95 of 100 questions, took at most"],
];

/** @param {HTMLElement} box @param {Lab} lab */
export async function showEvaluations(box, lab) {
  const id = lab.app.query.get("id"), other = lab.app.query.get("other");
  const view = h("div", { class: "col" });
  fill(box, id && back(lab), view);
  await lab.wait(view, async () => {
    const found = await get(address(["evaluations", ...id ? [id] : [], ...id && other ? ["beside", other] : []]), lab.app.signal);
    fill(view, id ? other ? besideView(found) : oneView(found) : listView(lab, found));
  }, "Loading what was measured");
}

/** @param {Lab} lab */
const back = (lab) => h("div", { class: "lab-return" },
  h("a", { class: "button plain", href: lab.link({}) }, icon("left"), "All evaluations"));

/** @param {Lab} lab @param {{evaluations: Evaluation[], folder: boolean}} found */
function listView(lab, { evaluations, folder }) {
  if (!folder) {
    return [empty("No evaluations are shown here",
      "An evaluation asks many questions whose answers are known, and measures how well each way to search or to answer does."),
      h("ol", { class: "panel lab-steps" },
        h("li", {}, "Measure on a set of questions: ", h("code", {}, "kgrag lab eval SET --out FOLDER")),
        h("li", {}, "Start the server where they are kept: ", h("code", {}, "KGRAG_SERVE__EVALUATIONS=FOLDER kgrag serve")))];
  }
  if (evaluations.length === 0) {
    return [empty("Nothing was measured yet", "The folder of this server holds no evaluation that you may see. Make one with:",
      h("code", {}, "kgrag lab eval SET --out FOLDER"))];
  }
  return [table(lab, evaluations), meanings()];
}

/** @param {Lab} lab @param {Evaluation[]} evaluations */
function table(lab, evaluations) {
  const names = measured(evaluations);
  const compare = button({ title: "Compare two", icon: "replace", kind: "main", disabled: true, onclick: () => {
    const [id = "", other = ""] = ticked();
    lab.app.go(lab.link({ id, other }));
  } });
  const boxes = evaluations.map((its) => h("input", { type: "checkbox", value: its.id, "aria-label": `Compare ${its.system}`,
    onchange: () => { compare.disabled = ticked().length !== 2; } }));
  const ticked = () => boxes.filter((box) => box.checked).map((box) => box.value);
  return h("div", { class: "col" },
    h("div", { class: "row" }, h("p", { class: "quiet grow" }, "Choose one to see its questions, or tick two to compare them."), compare),
    h("div", { class: "table-box lab-measures", tabindex: 0, role: "region", "aria-label": "Evaluations" }, h("table", {},
      h("thead", {}, h("tr", {}, ["System", "Questions of", "When"].map((name) => h("th", { scope: "col" }, name)),
        names.map((name) => h("th", { scope: "col", class: "number" }, name)))),
      h("tbody", {}, evaluations.map((its, place) => h("tr", {},
        h("th", { scope: "row" }, h("span", { class: "lab-tick" }, boxes[place], h("a", { href: lab.link({ id: its.id }) }, its.system))),
        h("td", {}, its.dataset, h("span", { class: "hint lab-under" }, [its.collection, its.embedder].filter(Boolean).join(" · "))),
        h("td", { class: "nowrap" }, when(its.when)),
        names.map((name) => h("td", { class: "number" }, value(name, its.measures[name])))))))));
}

function meanings() {
  return h("details", {}, h("summary", {}, "What the measures mean"),
    h("dl", { class: "lab-meanings" }, MEANINGS.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])));
}

/** @param {{evaluation: Evaluation, records: Asked[]}} found */
function oneView({ evaluation, records }) {
  const names = measured([evaluation]), list = h("ol", { class: "lab-list" }), shown = h("p", { class: "hint", role: "status" });
  /** @type {Record<string, (its: Asked) => boolean>} */
  const kinds = { all: () => true, missed: (its) => !foundAll(its), errors: (its) => its.error !== "" };
  const draw = (/** @type {string} */ kind) => {
    const fits = records.filter(kinds[kind] ?? (() => true));
    fill(shown, counted(fits.length, "question"));
    fill(list);
    inParts(list, fits, (its) => question(evaluation, its));
  };
  const chosen = select([["all", "All questions"], ["missed", `Gold missing among the first ${FIRST}`],
    ["errors", "Without an answer, for an error"]], "all", draw, { "aria-label": "Which questions" });
  draw("all");
  return h("div", { class: "col" }, heading(evaluation),
    h("dl", { class: "panel lab-figures" }, names.map((name) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value(name, evaluation.measures[name]))))),
    meanings(), h("div", { class: "row lab-filter" }, chosen, shown), list);
}

/** @param {Evaluation} its */
function heading(its) {
  const asked = `${counted(its.questions, "question")} of ${its.dataset}`;
  const told = [asked, its.collection && `in ${its.collection}`, its.embedder, when(its.when)].filter(Boolean);
  return h("div", {}, h("h2", {}, its.system), h("p", { class: "quiet" }, told.join(" · ")));
}

/** @param {Evaluation} evaluation @param {Asked} its */
function question({ collection }, its) {
  const to = new URLSearchParams({ collection, q: its.question, system: its.search ? `search: ${its.system}` : its.system });
  return h("li", { class: "panel lab-question" },
    h("div", { class: "row" }, h("h3", { class: "text grow" }, its.question),
      its.system && h("a", { class: "button line", href: `/?${to}` }, icon("ask"), "Ask it")),
    known(its.answers), told(its, !its.search && !its.error), its.error && h("p", { class: "row small warned" }, icon("warn"), its.error));
}

/** @param {string[]} answers */
const known = (answers) => answers.length > 0 && fact("Known answer", answers.join(" or "));

/** What was found and said. @param {Told} its @param {boolean} answers whether it was to answer */
function told(its, answers) {
  const kind = (/** @type {number | null} */ rank) => rank === null ? " wrong" : rank <= FIRST ? " ok" : "";
  return [answers && fact("Answered", its.said || "nothing"),
    its.ranks.length > 0 && h("p", { class: "row small" }, h("span", { class: "quiet" }, "Gold at"),
      its.ranks.map((rank) => h("span", { class: `badge${kind(rank)}` }, rank ?? "not found")))];
}

/** @param {string} name @param {string} text */
const fact = (name, text) => h("p", { class: "text small" }, h("span", { class: "quiet" }, `${name}: `), text);

/** @param {Told} its */
const foundAll = ({ ranks }) => ranks.every((rank) => rank !== null && rank <= FIRST);

/** @param {Beside} found */
function besideView({ one, other, rows, shared, questions }) {
  const list = h("ol", { class: "lab-list" });
  /** @type {{of: Evaluation, part: "one" | "other"}[]} */
  const sides = [{ of: one, part: "one" }, { of: other, part: "other" }];
  const answering = new Set(sides.filter(({ part }) => questions.some((its) => its[part].said)));
  inParts(list, questions, (its) => h("li", { class: "panel lab-question" }, h("h3", { class: "text" }, its.question), known(its.answers),
    h("div", { class: "lab-two" }, sides.map((side) =>
      h("div", {}, h("p", { class: "strong small" }, side.of.system), told(its[side.part], answering.has(side)))))));
  return h("div", { class: "col" }, h("div", { class: "lab-two" }, heading(one), heading(other)),
    h("p", { class: "quiet" }, shared
      ? `On the ${counted(shared, "question")} that both were asked. A difference is noise where its 95 % interval includes 0.`
      : "They were not asked the same questions, so their measures say little about each other."),
    h("div", { class: "table-box lab-measures", tabindex: 0, role: "region", "aria-label": "Measures" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Measure"),
        [one.system, other.system, "Difference", "95 % interval"].map((name) => h("th", { scope: "col", class: "number" }, name)),
        h("th", { scope: "col" }, "Verdict"))),
      h("tbody", {}, rows.map((row) => line(row))))),
    meanings(), h("h2", {}, "Questions in which they differ"),
    questions.length > 0 ? list : h("p", { class: "quiet" },
      shared ? `None: both found the same gold among the first ${FIRST}, and said the same.` : "None can be compared."));
}

/** @param {Line} row */
function line(row) {
  const kind = { better: " ok", worse: " wrong" }[row.verdict] ?? "";
  return h("tr", {}, h("th", { scope: "row" }, row.measure),
    [row.one, row.other].map((its) => h("td", { class: "number" }, value(row.measure, its))),
    h("td", { class: "number" }, row.difference), h("td", { class: "number" }, row.interval),
    h("td", {}, row.verdict && h("span", { class: `badge${kind}` }, row.verdict)));
}

/** The measures that any has, in their order. @param {Evaluation[]} evaluations */
function measured(evaluations) {
  return [...new Set(evaluations.flatMap(({ measures }) => Object.keys(measures).filter((name) => measures[name] !== null)))];
}

/** A measure as it is read. @param {string} name @param {number | null | undefined} its */
function value(name, its) {
  if (its === null || its === undefined) return "–";
  const digits = WHOLE.includes(name) ? 0 : name === "cost" ? 4 : SHARES.test(name) ? 1 : 3;
  return its.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * Show many items, the first of them at once and others when they are wanted.
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} items
 * @param {(item: T) => HTMLElement} make
 */
export function inParts(list, items, make) {
  list.append(...items.slice(0, PART).map(make));
  if (items.length <= PART) return;
  const show = () => {
    more.remove();
    inParts(list, items.slice(PART), make);
  };
  const left = button({ title: `Show more of ${count(items.length - PART)}`, kind: "line", onclick: show });
  const more = h("li", { class: "row lab-more" }, left);
  list.append(more);
}
