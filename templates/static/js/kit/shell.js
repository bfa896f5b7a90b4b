// What every page has: theme, keys, the palette (Ctrl K), and the live connection.

import { get, P } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { follow } from "./stream.js";

export const where = {
  project: document.body.dataset.project ?? "",
  chat: document.body.dataset.chat ?? "",
  live: "live" in document.body.dataset,
};

const KEYS = [
  ["Ctrl K", "Go anywhere"],
  ["?", "These keys"],
  ["Esc", "Close, or go back to the list"],
  ["g h", "Home"],
  ["g r", "Runs"],
  ["g t", "Triggers of this project"],
  ["g c", "Chats of this project"],
];
const pageKeys = [];

/** A key of this page, listed in the help. `act` is optional when the page listens itself. */
export function key(name, meaning, act) {
  pageKeys.push([name, meaning, act]);
}

const typing = (event) => event.target.closest?.("input, textarea, select, [contenteditable]");

function theme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const next = (root.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
  root.dataset.theme = next;
  document.cookie = `svc_theme=${next}; path=/; max-age=31536000; samesite=strict`;
}

/** A modal dialogue that leaves the page when it is closed. */
export function dialog(label, ...content) {
  const node = h("dialog", { class: "dialog", "aria-label": label }, ...content);
  node.addEventListener("close", () => node.remove());
  node.addEventListener("click", (event) => event.target === node && node.close());
  document.body.append(node);
  node.showModal();
  return node;
}

function help() {
  const rows = [...KEYS, ...pageKeys].map(([name, meaning]) => [
    h(
      "dt",
      {},
      name.split(" ").map((part) => h("span", { class: "kbd" }, part)),
    ),
    h("dd", {}, meaning),
  ]);
  const node = dialog(
    "Keys and help",
    h(
      "header",
      { class: "line" },
      h("h2", { class: "big" }, "Keys"),
      h(
        "button",
        {
          type: "button",
          class: "btn ghost only push",
          "aria-label": "Close",
          onclick: () => node.close(),
        },
        icon("x"),
      ),
    ),
    h("dl", { class: "facts keys" }, rows),
    h(
      "p",
      { class: "hint" },
      "Everything here is also in the JSON API: ",
      h("a", { class: "link", href: "/api/docs" }, "/api/docs"),
      ".",
    ),
  );
}

async function places() {
  const parts = [...document.querySelectorAll(".rail .part")].map((part) => [
    part.textContent,
    part.href,
    "out",
  ]);
  if (!where.live) return parts;
  const { projects } = await get("/api/projects");
  const found = [
    ["Home", "/", "home"],
    ...parts.slice(1),
    ["All runs", "/runs", "clock"],
    ["Clients of /mcp", "/clients", "shield"],
    ["Audit", "/audit", "file"],
  ];
  for (const { slug, name } of projects) {
    found.push(
      [name, `/projects/${slug}`, "folder"],
      [`${name}: triggers`, `/projects/${slug}/triggers`, "bolt"],
    );
    found.push(
      [`${name}: runs`, `/projects/${slug}/runs`, "clock"],
      [`${name}: settings`, `/projects/${slug}/settings`, "pencil"],
    );
  }
  if (where.project) {
    const { chats } = await get(`${P(where.project, "chats")}?limit=100`);
    found.push(
      ...chats.map((chat) => [
        chat.name,
        `/projects/${where.project}/chats/${chat.sessionId}`,
        "chat",
      ]),
    );
  }
  return found;
}

async function palette() {
  if (document.querySelector("dialog[open]")) return;
  const list = h("ul", { class: "options", id: "places", role: "listbox", "aria-label": "Places" });
  const input = h("input", {
    class: "input",
    type: "search",
    placeholder: "Search or jump to…",
    role: "combobox",
    "aria-label": "Search or jump to",
    "aria-expanded": "true",
    "aria-controls": "places",
    autocomplete: "off",
  });
  const node = dialog("Go to", input, list);
  const all = await places().catch(() => []);
  let shown = [];
  let at = 0;
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    shown = all
      .filter(([name]) => words.every((word) => name.toLowerCase().includes(word)))
      .slice(0, 12);
    at = Math.min(at, Math.max(0, shown.length - 1));
    fill(
      list,
      shown.map(([name, href, shape], n) =>
        h(
          "li",
          {
            id: `place-${n}`,
            role: "option",
            class: "option",
            "aria-selected": String(n === at),
            onclick: () => location.assign(href),
          },
          icon(shape),
          h("span", { class: "cut" }, name),
        ),
      ),
      shown.length === 0 &&
        h(
          "li",
          {
            class: "option quiet",
            role: "option",
            "aria-disabled": "true",
            "aria-selected": "false",
          },
          "Nothing by that name",
        ),
    );
    input.setAttribute("aria-activedescendant", shown.length ? `place-${at}` : "");
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      at = (at + step + shown.length) % (shown.length || 1);
      draw();
    }
    if (event.key === "Enter" && shown[at]) location.assign(shown[at][1]);
  });
  draw();
  if (!node.open) return;
  input.focus();
}

let pending = "";

function onKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    palette();
    return;
  }
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    typing(event) ||
    document.querySelector("dialog[open]")
  )
    return;
  const name = pending + event.key;
  pending = event.key === "g" ? "g " : "";
  const go = {
    "g h": "/",
    "g r": where.project ? `/projects/${where.project}/runs` : "/runs",
    "g t": where.project && `/projects/${where.project}/triggers`,
    "g c": where.project && `/projects/${where.project}/chats`,
  }[name];
  if (go) location.assign(go);
  else if (event.key === "?") help();
  else pageKeys.find(([key, , act]) => key === event.key && act)?.[2](event);
}

document.getElementById("theme").addEventListener("click", theme);
document.getElementById("help").addEventListener("click", help);
document.getElementById("palette").addEventListener("click", palette);
document.addEventListener("keydown", onKey);

const watchers = new Set();
const changed = () => watchers.forEach((refresh) => refresh());

/** Call `refresh` when something of the service changed, and when the connection came back. */
export const onChange = (refresh) => watchers.add(refresh);

if (where.live) {
  const handlers = Object.fromEntries(
    ["open", "resync", "project", "chat", "run"].map((name) => [name, changed]),
  );
  follow("/api/events", handlers);
}
