// Converts the HTML of an answer from the server to elements, of an allowed list only.
import { h } from "./dom.js";

const ALLOWED = new Set(["P", "BR", "EM", "STRONG", "S", "CODE", "PRE", "UL", "OL", "LI", "H1", "H2", "H3", "H4", "H5", "H6", "BLOCKQUOTE",
  "TABLE", "THEAD", "TBODY", "TR", "TH", "TD", "HR"]);
const ALIGNED = new Set(["center", "right"]); // columns

/**
 * @param {string} html
 * @param {(cite: {number: number, start: number, end: number}) => HTMLElement} cited what stands where a source is cited
 * @returns {DocumentFragment}
 */
export function safe(html, cited) {
  const read = new DOMParser().parseFromString(html, "text/html"), fragment = document.createDocumentFragment();
  copy(read.body, fragment, cited);
  return fragment;
}

/** @param {Node} from @param {Node} to @param {(cite: {number: number, start: number, end: number}) => HTMLElement} cited */
function copy(from, to, cited) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.appendChild(document.createTextNode(node.textContent ?? ""));
    if (!(node instanceof Element)) continue;
    let into = to;
    if (node.tagName === "A" && node.className === "cite") {
      to.appendChild(cited({ number: number(node, "number"), start: number(node, "start"), end: number(node, "end") }));
      continue;
    }
    const href = node.getAttribute("href") ?? "";
    if (node.tagName === "A" && /^(https?|mailto):/i.test(href)) into = to.appendChild(h("a", { href, target: "_blank", rel: "noreferrer noopener" }));
    else if (ALLOWED.has(node.tagName)) into = to.appendChild(h(/** @type {"p"} */ (node.tagName.toLowerCase()), { dir: "auto", class: ALIGNED.has(node.className) && node.className }));
    copy(node, into, cited);
  }
}

/** @param {Element} node @param {string} name */
const number = (node, name) => Number(node.getAttribute(`data-${name}`)) || 0;
