// Notifications of this browser: one for each event, however many pages of the service are open.
// Off until the user presses the bell. The choice is a cookie, so that the three ports of a host
// agree; the browser asks for permission on each port separately.

import { partLink } from "./rail.js";
import { follow } from "./stream.js";
import { toast } from "./toast.js";

/** @typedef {{id: string, title: string, text: string, at: string, part: string, path: string}} Told */

const YEAR = 31_536_000;
const REMEMBERED = 30; // shown messages in the cookie
const LATE = 3_600_000; // ms after which a missed message is out of date
const SETTLED = 10_000; // ms until every page has received a message and sees the cookie
/** @type {Record<string, number>} ms: the main port decides before the other ports */
const TURN = { main: 0, review: 400, dashboard: 800 };
const LOCK = "svc-notify";
const CHOICE = "svc_notify";
const SHOWN = "svc_notified";
const REFUSED =
  "The browser refuses notifications of this address. Allow them in its settings of this site.";
const WITHOUT = "This browser shows no notifications of pages.";

let listening = false;
/** @type {Set<string>} */
const deciding = new Set(); // ids of messages for which it is undecided which page shows them
/** @type {Map<string, Notification>} */
const shows = new Map(); // notifications of this page, by id
/** @type {Set<() => unknown>} */
const watchers = new Set();

/** Whether this browser can notify: it needs a secure context, such as localhost. */
export const able = () => "Notification" in window && "locks" in navigator && isSecureContext;

/** Whether notifications are on, on this port. */
export const on = () => able() && Notification.permission === "granted" && cookie(CHOICE) === "on";

/**
 * Call `changed` after notifications were switched on or off in this page.
 * @param {() => unknown} changed
 */
export const onSwitch = (changed) => watchers.add(changed);

/** The menu item that switches notifications on or off. */
export const item = () => ({
  label: on() ? "Stop notifications in this browser" : "Notify me in this browser",
  icon: "bell",
  act: toggle,
  disabled: !able(),
  why: able() ? "" : WITHOUT,
});

/** Switch notifications. The browser grants permission only on a press. */
export async function toggle() {
  if (on()) {
    keep(CHOICE, "", 0);
    toast("Notifications are off in this browser.");
  } else if (!able()) toast(WITHOUT, { bad: true });
  else if ((await Notification.requestPermission()) !== "granted") toast(REFUSED, { bad: true });
  else begin();
  watchers.forEach((changed) => changed());
}

function begin() {
  keep(CHOICE, "on", YEAR);
  listen();
  try {
    const body = "You are notified here of what happens while you look elsewhere.";
    new Notification("Notifications are on", { body, tag: "svc-on" });
    toast("Notifications are on in this browser.");
  } catch {
    keep(CHOICE, "", 0); // phones require a service worker
    toast(WITHOUT, { bad: true });
  }
}

function listen() {
  if (listening || Notification.permission !== "granted") return;
  listening = true;
  follow("/api/events", { notification: onNotification, withdrawn });
}

/** @param {Told} told */
async function onNotification(told) {
  if (!on() || Date.now() - Date.parse(told.at) > LATE) return;
  deciding.add(told.id);
  await new Promise((done) => setTimeout(done, TURN[port()] ?? 0));
  const mark = `${told.id}-${Date.parse(told.at).toString(36)}`;
  // Both a lock and a cookie: pages of different ports share no locks, and a cookie reaches other
  // processes late.
  await navigator.locks.request(`${LOCK}:${mark}`, { ifAvailable: true }, async (first) => {
    if (!deciding.delete(told.id) || !first) return;
    const shown = cookie(SHOWN).split(".").filter(Boolean);
    if (shown.includes(mark)) return;
    keep(SHOWN, [...shown, mark].slice(-REMEMBERED).join("."), YEAR);
    const place = address(told);
    const { held } = await navigator.locks.query();
    if (!place || !held?.some(({ name }) => name === looks(place))) show(told, place);
    await new Promise((done) => setTimeout(done, SETTLED));
  });
}

/**
 * The question was answered, here or elsewhere: close its notification.
 * @param {{id: string}} over
 */
function withdrawn({ id }) {
  deciding.delete(id);
  shows.get(id)?.close();
}

/**
 * @param {Told} told
 * @param {URL | null} place
 */
function show({ id, title, text }, place) {
  const icon = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=icon]"));
  const shown = new Notification(title, { body: text, tag: `svc-${id}`, icon: icon?.href });
  shows.set(id, shown);
  shown.onclose = () => shows.delete(id);
  shown.onclick = () => {
    shown.close();
    focus();
    if (!place) return;
    if (place.pathname === location.pathname && place.origin === location.origin)
      location.assign(place);
    else open(place, "_blank"); // this page may be in use
  };
}

/** The name of this port; "main" also for a part that is mounted on the main port. */
function port() {
  const here = document.querySelector('.rail .part[aria-current="page"]');
  const name = /** @type {HTMLElement | null} */ (here)?.dataset.part ?? "review";
  return partLink("main")?.origin === location.origin ? "main" : name;
}

/**
 * The address of what happened; null where this page may not lead to that part.
 * @param {Told} told
 */
function address(told) {
  const link = partLink(told.part);
  return link && new URL(told.path.replace(/^\//, ""), link.href);
}

/** @param {URL | Location} place */
const looks = (place) => `svc-shows:${place.pathname}`;

/** Hold a lock while this page is visible, so that it suppresses notifications about itself. */
function look() {
  if (document.hidden) return;
  const hidden = new Promise((done) => {
    document.addEventListener("visibilitychange", done, { once: true });
  });
  navigator.locks.request(looks(location), { mode: "shared" }, () => hidden);
}

/** @param {string} name */
function cookie(name) {
  const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? "";
}

/**
 * @param {string} name
 * @param {string} value
 * @param {number} age
 */
function keep(name, value, age) {
  document.cookie = `${name}=${value}; path=/; max-age=${age}; samesite=strict`;
}

if (able()) {
  look();
  document.addEventListener("visibilitychange", look);
  // Reading Notification.permission while the page loads would block it until the browser answers.
  Promise.resolve(navigator.permissions?.query({ name: "notifications" }))
    .then((status) => {
      status?.addEventListener("change", listen);
      if (!status || status.state === "granted") listen();
    })
    .catch(listen);
}
