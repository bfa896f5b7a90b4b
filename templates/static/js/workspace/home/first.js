// The home page before the first project: the three parts, their purpose, and a first step in each.

import { get, post } from "../../kit/api.js";
import { button, h } from "../../kit/dom.js";
import { command } from "../../kit/parts.js";
import { partLink } from "../../kit/rail.js";
import { attempt } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";

const NAMED = 3; // apps that are named
const HERE = "Opens only on the machine that runs this service";

/** `form` is the place for the form that `make()` opens. */
export function welcome(form, { make, opened }) {
  return [
    h(
      "header",
      { class: "pagehead" },
      h(
        "div",
        {},
        h("h1", {}, "Nothing here yet"),
        h("p", {}, "Coding agents work here. Three parts, each with one first step, in any order."),
      ),
    ),
    form,
    h("div", { class: "trio", id: "first" }, talk(make, opened), review(), apps()),
    h(
      "p",
      { class: "after" },
      "Press ",
      h("kbd", { class: "kbd" }, "?"),
      " for the keys of a page, ",
      h("kbd", { class: "kbd" }, "Ctrl K"),
      " to go anywhere.",
    ),
  ];
}

const lane = (name, title, ...content) =>
  h(
    "section",
    { class: "card empty", "aria-labelledby": `first-${name}` },
    /** @type {HTMLTemplateElement} */ (document.getElementById(`art-${name}`)).content.cloneNode(
      true,
    ),
    h("h2", { class: "big", id: `first-${name}` }, title),
    content,
  );

function talk(make, opened) {
  const open = button("Open a folder", { icon: "folder", kind: "primary", onclick: opened });
  const demo = button("Make the demo project", {
    icon: "play",
    onclick: (event) =>
      attempt(event, async () => {
        const { project } = await post("/api/demo");
        location.assign(`/projects/${project.slug}`);
      }),
  });
  const own = h(
    "button",
    { type: "button", class: "link", onclick: make },
    "work on a copy, or in an empty folder",
  );
  return lane(
    "talk",
    "Talk to an agent",
    h(
      "p",
      {},
      "Open a folder of yours, and agents work in it as it is, by chat or by trigger. The demo runs offline, without a model.",
    ),
    h("div", { class: "stack center" }, open, demo, h("p", { class: "tiny" }, "or ", own)),
    command(`curl -X POST ${location.origin}/api/demo`, "the command that makes the demo project"),
  );
}

const review = () =>
  lane(
    "review",
    "Review its commits",
    h(
      "p",
      {},
      "Read what an agent committed, one commit at a time, and answer on the line. Threads follow a commit when it is rewritten.",
    ),
    leading("review", "Open Review", h("p", { class: "tiny" }, "Two examples wait there")),
    partLink("review") &&
      command(
        `curl -X POST -H 'Content-Type: application/json' ${location.origin}/review/api/examples`,
        "the command that adds the examples",
      ),
  );

function apps() {
  const now = h("p", { class: "tiny" }, "Start a dev server: it is there within two seconds");
  if (partLink("dashboard"))
    running().then(
      (names) => names && now.replaceChildren(names),
      () => {}, // the dashboard may be off
    );
  return lane(
    "apps",
    "See what it started",
    h("p", {}, "Every server on this machine with its address, folder, branch, state and log."),
    leading("dashboard", "Open Apps", now),
    command(".venv/bin/python manage.py dashboard ls", "the command that lists apps"),
  );
}

/** The link to a part with what it leads to, or why there is none. */
function leading(part, label, what) {
  const link = partLink(part);
  const first = link && h("a", { class: "btn", href: link.href }, label);
  return h(
    "div",
    { class: "stack center" },
    first ?? h("p", { class: "tiny" }, HERE),
    link && what,
  );
}

/** "12 apps now: shop, api, docs …", as the dashboard reports them; "" if none is up. */
async function running() {
  const { apps: all } = await get("/dashboard/api/state");
  const up = all.filter(({ state }) => state === "up");
  if (!up.length) return "";
  const names = up.slice(0, NAMED).map(({ name }) => name);
  return `${plural(up.length, "app")} now: ${names.join(", ")}${up.length > NAMED ? " …" : ""}`;
}
