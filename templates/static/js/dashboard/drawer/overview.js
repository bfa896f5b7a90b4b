// The Overview tab: what an app is, where it runs, and where its file is.

import { get, post } from "../../kit/api.js";
import { button, h, keep } from "../../kit/dom.js";
import { markdown } from "../../kit/markdown.js";
import { attempt, copy, toast } from "../../kit/toast.js";
import { time } from "../../kit/words.js";
import { route } from "../route.js";
import { safe, shortly } from "../words.js";
import { share, took } from "./head.js";

export class Overview {
  constructor(app) {
    this.app = app;
    this.home = null;
    this.node = h("div", {
      class: "in facets",
      tabindex: "0",
      role: "region",
      "aria-label": "Overview",
    });
    this.update(app);
  }

  async show() {
    if (this.home !== null) return;
    const { path } = await get(route("config")).catch(() => ({ path: "" }));
    this.home = path.replace(/\/[^/]*$/, "");
    this.update(this.app);
  }

  hide() {}

  end() {}

  update(app) {
    this.app = app;
    const parts = [
      { key: "notes", text: app.config?.notes, description: app.description },
      { key: "picture", slug: app.slug, name: app.name, etag: app.thumbEtag, kind: app.thumbKind },
      { key: "reach", title: "Address", rows: reach(app) },
      { key: "runs", title: "Process", rows: runs(app) },
      { key: "code", title: "Project", rows: code(app) },
      { key: "service", title: "Service", rows: serviceRows(app) },
      { key: "health", title: "Health", rows: health(app) },
      { key: "file", title: "File", rows: this.file(app) },
    ];
    keep(
      this.node,
      parts.filter(({ key, rows, text, description }) =>
        rows ? rows.length : key === "picture" || text || description,
      ),
      ({ key }) => key,
      (/** @type {any} */ part) =>
        part.key === "picture" ? picture(part) : part.key === "notes" ? notes(part) : facet(part),
    );
  }

  file({ slug, source, fileErrors }) {
    if (source !== "declared") return [["File", "None yet: it was found running."]];
    const place = this.home ? `${this.home}/apps/${slug}.yaml` : `apps/${slug}.yaml`;
    const wrong = fileErrors.find(({ level }) => level === "error");
    return [
      ["Path", place, { mono: true, copy: "the path of its file" }],
      wrong && [
        "State",
        `It has an error; ${wrong.kept ? "the last good version is in use" : "it was never valid"}.`,
      ],
    ].filter(Boolean);
  }
}

/** A row is [label, text, {mono, copy, href, time}]. */
function facet({ title, rows }) {
  return h(
    "section",
    { class: "facet" },
    h("h3", {}, title),
    h(
      "dl",
      { class: "facts" },
      rows.map(([label, text, how]) => [h("dt", {}, label), h("dd", {}, value(text, how))]),
    ),
  );
}

/**
 * @param {string} text
 * @param {{mono?: boolean, copy?: string, href?: string, at?: any}} [look]
 */
function value(text, { mono, copy: what, href, at } = {}) {
  const words = h("span", { class: mono ? "mono wrap-anywhere" : "wrap-anywhere" }, [
    text,
    text && at && " ",
    at && time(at),
  ]);
  const place = safe(href);
  return h(
    "span",
    { class: "line fact" },
    place
      ? h(
          "a",
          {
            class: "link wrap-anywhere",
            href: place,
            target: "_blank",
            rel: "noopener noreferrer",
          },
          text,
        )
      : words,
    what &&
      button("", {
        icon: "copy",
        kind: "ghost s only",
        "aria-label": `Copy ${what}`,
        onclick: () => copy(what === "the address" ? href : text, "Copied"),
      }),
  );
}

const notes = ({ text, description }) =>
  h(
    "section",
    { class: "facet" },
    description && h("p", { class: "soft" }, description),
    text && markdown(text),
  );

const KINDS = { screenshot: "Screenshot", favicon: "Its icon", card: "Drawn from its name" };

function picture({ slug, name, etag, kind }) {
  return h(
    "figure",
    { class: "facet shot", dataset: { kind } },
    h("img", {
      src: `${route("apps", slug, "thumb")}?v=${encodeURIComponent(etag)}`,
      alt: `Picture of ${name}`,
      width: "640",
      height: "400",
      loading: "lazy",
    }),
    h(
      "figcaption",
      { class: "line" },
      h("span", { class: "tiny quiet" }, KINDS[kind]),
      button("Retake picture", {
        icon: "restart",
        kind: "ghost s push",
        onclick: (event) =>
          attempt(event, async () => {
            const { taken } = await post(route("thumbs", "refresh"), { slug });
            toast(taken ? "Picture taken." : "No picture taken: only an app that is up has one.");
          }),
      }),
    ),
  );
}

const filledRows = (rows) => rows.filter((row) => row && (row[1] || row[2]?.at));

function reach({ url, urls, port, links, docs, listens, last }) {
  const link = (label, href) => safe(href) && [label, shortly(href), { href, copy: "the address" }];
  const other = urls?.local && urls.local !== url ? urls.local : null;
  const bound = listens?.addresses.map(({ ip, port: at }) =>
    ip.includes(":") ? `[${ip}]:${at}` : `${ip}:${at}`,
  );
  return filledRows([
    link("Open", urls?.fronted ?? url),
    urls?.fronted && link("Direct", url),
    link("Local", other),
    link("Docs", docs),
    ...(links ?? []).map(({ name, url: href }) => link(name, href)),
    ["Port", port && String(port)],
    ["Listens on", bound?.join(", "), { mono: true }],
    [
      "From the LAN",
      listens &&
        (listens.lanExposed ? "Open: other machines can reach it" : "Closed: this machine only"),
    ],
    ["Answers at", last?.addr, { mono: true }],
  ]);
}

function runs({ identity }) {
  const process = identity?.process;
  if (!process) return [];
  const parents = process.parents?.map(({ name, pid }) => `${name} (${pid})`).join(" ← ");
  return filledRows([
    [
      "Process",
      `${process.name}, pid ${process.pid}${process.user ? `, user ${process.user}` : ""}`,
    ],
    ["Started", "", { at: process.startedAt }],
    ["Command", process.argv?.join(" "), { mono: true, copy: "the command" }],
    ["Started by", parents],
    ["Directory", identity.cwd, { mono: true, copy: "the directory" }],
    identity.container && ["Container", `${identity.container.name}, ${identity.container.image}`],
    identity.partial && ["Note", "Some of it belongs to another user and cannot be read."],
  ]);
}

function code({ identity, tags }) {
  const { git, package: pack, framework, title } = identity ?? {};
  const nameAndVersion = (one) => one && [one.name, one.version].filter(Boolean).join(" ");
  return filledRows([
    ["Title", title],
    git && ["Repository", git.worktree ? `${git.name}, worktree ${git.worktree}` : git.name],
    ["Branch", git?.branch, { mono: true }],
    ["Remote", git?.remote, { mono: true }],
    ["Framework", nameAndVersion(framework)],
    ["Package", pack && `${nameAndVersion(pack)}${pack.manager ? `, ${pack.manager}` : ""}`],
    ["Tags", tags?.join(", ")],
  ]);
}

function serviceRows({ service }) {
  if (!service) return [];
  const { status, pid, restarts, lastExit, nextRetryAt, adopted, autostart, stale } = service;
  const ended =
    lastExit && (lastExit.signal ? `signal ${lastExit.signal},` : `code ${lastExit.code},`);
  return filledRows([
    ["Status", `${status}${pid ? `, pid ${pid}` : ""}${adopted ? ", adopted" : ""}`],
    stale && [
      "Out of date",
      "Its command, environment or port changed since it started. Restart it to use that.",
    ],
    ["Started", "", { at: service.startedAt }],
    ["Restarts", restarts ? String(restarts) : ""],
    ["Last exit", ended, { at: lastExit?.at }],
    ["Next try", "", { at: nextRetryAt }],
    ["Starts with svc", autostart ? "Yes" : "No"],
  ]);
}

const EXPECTED = {
  always: "Always: down is an alarm",
  sometimes: "Sometimes: not running is fine",
  never: "Never: running is worth a look",
};

function health({ uptime, last, expected, lastKnown, state }) {
  const told =
    last &&
    [last.status && `HTTP ${last.status}`, last.ok ? took(last.ms) : last.error]
      .filter(Boolean)
      .join(", ");
  return filledRows([
    ["Expected", EXPECTED[expected]],
    uptime["90d"] !== null && [
      "Up",
      `${share(uptime["24h"])} of 24 hours, ${share(uptime["7d"])} of 7 days, ${share(uptime["90d"])} of 90 days`,
    ],
    ["Last check", told && `${told},`, { at: last?.at }],
    state === "unknown" && lastKnown && ["Last known", `${lastKnown.state},`, { at: lastKnown.at }],
  ]);
}
