// Calls of the REST API. Every failure becomes an ApiError with a remedy.

/** An error of the server or of the connection. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {{remedy?: string, kind?: string, status?: number, id?: string}} [details]
   */
  constructor(message, details = {}) {
    super(message);
    this.remedy = details.remedy ?? "";
    this.kind = details.kind ?? "";
    this.status = details.status ?? 0;
    this.id = details.id ?? "";
  }
}

/**
 * Return an address below /api/v1 from encoded parts of a path and a query.
 * @param {string[]} path
 * @param {Record<string, string | number | boolean | string[] | null | undefined>} [query]
 */
export function address(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== "" && one !== null && one !== undefined) parameters.append(name, String(one));
    }
  }
  const search = parameters.toString();
  return `/api/v1/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

/**
 * Return the JSON reply of the server. Raises ApiError; opens the login page if the session has ended.
 * @param {string} method
 * @param {string} to
 * @param {unknown} [body] sent as JSON, or unchanged if it is FormData
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function call(method, to, body, signal) {
  const reply = await send(method, to, body, signal, "application/json");
  return reply.status === 204 ? null : await reply.json();
}

/** @param {string} to @param {AbortSignal} [signal] */
export const get = (to, signal) => call("GET", to, undefined, signal);

/** @param {string} to @param {unknown} body */
export const post = (to, body) => call("POST", to, body);

/** @param {string} to */
export const remove = (to) => call("DELETE", to);

/** Open a file of the server in a new tab. Raises ApiError for a missing file. @param {string} to */
export async function openFile(to) {
  const reply = await send("GET", to, undefined, undefined, "*/*");
  await reply.body?.cancel();
  Object.assign(document.createElement("a"), { href: to, target: "_blank", rel: "noopener" }).click();
}

/**
 * @param {string} method
 * @param {string} to
 * @param {unknown} body
 * @param {AbortSignal | undefined} signal
 * @param {string} accept
 */
async function send(method, to, body, signal, accept) {
  const form = body instanceof FormData;
  /** @type {Record<string, string>} */
  const headers = { Accept: accept };
  if (body !== undefined && !form) headers["Content-Type"] = "application/json";
  let reply;
  try {
    // no-store: otherwise the browser queues requests of one address
    reply = await fetch(to, { method, headers, body: form ? body : body === undefined ? null : JSON.stringify(body), signal: signal ?? null, cache: "no-store" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The server cannot be reached.", { remedy: "Check that it runs, and try again.", kind: "Offline" });
  }
  if (reply.ok) return reply;
  if (reply.status === 401) {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  let answer;
  try {
    answer = await reply.json();
  } catch {
    answer = { error: `The server replied ${reply.status}.`, remedy: "Try again in a moment.", kind: "" };
  }
  throw new ApiError(answer.error, { remedy: answer.remedy, kind: answer.kind, status: reply.status, id: reply.headers.get("x-request-id") ?? "" });
}

/**
 * Yield the server-sent events of an address. Raises ApiError, also for an event `error`.
 * @param {string} to
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{name: string, data: any}>}
 */
export async function* events(to, signal) {
  const reply = await send("GET", to, undefined, signal, "text/event-stream");
  if (!reply.body) return;
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ApiError("The connection to the server was lost.", { remedy: "It continues as soon as the server answers.", kind: "Offline" });
    }
    if (part.done) return;
    text += part.value;
    const whole = text.split("\n\n");
    text = whole.pop() ?? "";
    for (const one of whole) {
      const name = /^event: (.*)$/m.exec(one)?.[1], data = /^data: (.*)$/m.exec(one)?.[1];
      if (!name || data === undefined) continue;
      const event = JSON.parse(data);
      if (name === "error") throw new ApiError(event.error, { remedy: event.remedy, kind: event.kind });
      yield { name, data: event };
    }
  }
}
