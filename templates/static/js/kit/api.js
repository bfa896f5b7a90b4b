// Calls of the JSON API that every client uses. An error carries the sentence the service gave.

import { connection } from "./connection.js";

/** @typedef {{error?: string, code?: string, errors?: any[], [more: string]: any}} Refusal */
/** @typedef {{etag?: string | null, create?: boolean, key?: string, within?: number}} Conditions */

// An answer that is not JSON is an error whatever its status: it may be the page of a proxy.
const NOT_JSON = {
  error: "The answer was not JSON. Is something between this page and the service?",
};

const LONG = 300_000; // ms: longer than anything but a clone takes
const SILENT = "No answer came. It may have been done anyway: look before you try again.";

let due = 0; // answers awaited
// Dispatched in a later task, so that requests made on receipt of an answer count; early.js waits.
const rest = () => setTimeout(() => due || document.dispatchEvent(new Event("svc-rest")));
document.addEventListener("DOMContentLoaded", rest);

class ApiError extends Error {
  /**
   * `body` is the whole refusal, with the fields that belong to its code (issues, line, etag).
   * @param {number} status
   * @param {Refusal} body
   */
  constructor(status, body) {
    super(body.error ?? `The service answered ${status}.`);
    this.status = status;
    this.code = body.code ?? "";
    this.errors = body.errors ?? [];
    this.body = body;
  }
}

/**
 * Returns {data, etag}. A missing connection is an ApiError of status 0. `etag`: only if the
 * resource is still as it was read; `create`: only if it does not exist yet; `key`: only if nothing
 * was done under this key before. `within`: ms after which to give up on the answer, 0 = never.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {Conditions} [conditions]
 * @returns {Promise<{data: any, etag: string | null}>}
 */
export async function call(method, path, body, conditions) {
  due += 1;
  try {
    return await sendRequest(method, path, body, conditions);
  } finally {
    due -= 1;
    rest();
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {any} body
 * @param {Conditions} [conditions]
 */
async function sendRequest(method, path, body, { etag, create, key, within = LONG } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (etag) headers["If-Match"] = etag;
  if (create) headers["If-None-Match"] = "*";
  if (key) headers["Idempotency-Key"] = key;
  let response;
  let text;
  const late = new AbortController();
  const timer = within ? setTimeout(() => late.abort(), within) : 0;
  try {
    const { signal } = late;
    response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
    text = await response.text();
    connection.reportAnswer();
  } catch {
    if (late.signal.aborted) throw new ApiError(0, { error: SILENT, code: "silent" });
    connection.reportFailure();
    throw new ApiError(0, { error: "The service does not answer. Is it still running?" });
  } finally {
    clearTimeout(timer);
  }
  const data = text ? parse(text) : {};
  if (!response.ok || data === NOT_JSON) throw new ApiError(response.status, data);
  return { data, etag: response.headers.get("ETag") };
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}

/** Where this part is mounted: "" on its own port, "/review" under the main one. */
export const base = (document.body.dataset.base ?? "").replace(/\/$/, "");

/** @typedef {(path: string, body?: any, options?: Conditions) => Promise<any>} Send */

/** @param {string} path @returns {Promise<any>} */
export const get = async (path) => (await call("GET", path)).data;
/** @type {Send} */
export const post = async (path, body = {}, options) =>
  (await call("POST", path, body, options)).data;
/** @type {Send} */
export const put = async (path, body, options) => (await call("PUT", path, body, options)).data;
/** @type {Send} */
export const patch = async (path, body, options) => (await call("PATCH", path, body, options)).data;
/** @param {string} path @returns {Promise<any>} */
export const remove = async (path) => (await call("DELETE", path, {})).data;

/**
 * P("demo", "chats", id) → "/api/projects/demo/chats/<id>"
 * @param {string} slug
 * @param {...(string | number)} rest
 */
export const P = (slug, ...rest) =>
  ["/api/projects", slug, ...rest]
    .map((part, n) => (n ? encodeURIComponent(part) : part))
    .join("/");

/**
 * query("/api/runs", {status, limit}) leaves out empty fields.
 * @param {string} path
 * @param {Record<string, any>} fields
 */
export function query(path, fields) {
  const given = Object.entries(fields).filter(
    ([, value]) => value !== "" && value !== undefined && value !== null,
  );
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
