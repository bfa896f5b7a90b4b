// The listeners on this machine that no file declares, as rows with their actions.

import { button, fill, h, keep } from "../kit/dom.js";
import { plural } from "../kit/words.js";
import { claim, ignore } from "./forms/observed.js";
import { Quiet } from "./grid/quiet.js";

/** The data of a listener's row. `asked`: whether the service probes listeners over HTTP. */
export function listenerData(one, asked = false) {
  const { process, cwd, git, framework, title } = one.identity ?? {};
  const version = framework?.version ? `${framework.name} ${framework.version}` : framework?.name;
  const silent = asked && one.protocol === "unknown" && ["dev", "other"].includes(one.kind);
  const branch = git?.branch && `branch ${git.branch}`;
  const facts = [silent && "has not answered yet", version, title, cwd, branch];
  return {
    id: one.id,
    port: one.port,
    process: process?.name ?? "",
    name: one.suggested?.name || process?.name || "unknown process",
    cwd: cwd ?? "",
    about: facts.filter(Boolean).join(" · "),
    lan: one.lanExposed,
    hidden: one.hidden,
    suggested: one.suggested,
  };
}

export class Observed {
  rows = [];
  system = false;
  known = null;

  /** `scan(event)` scans now. The listeners come through `draw`. */
  constructor(scan) {
    this.list = h("ul", { class: "card", "aria-label": "Listening, not claimed" });
    this.count = h("span", { class: "count" });
    this.words = h("p", { class: "tiny quiet spaced line wrap" });
    this.waiting = button("", { kind: "s", onclick: () => this.show({ atOnce: true }) });
    this.waiting.hidden = true;
    this.node = h(
      "section",
      { id: "observed" },
      h(
        "div",
        { class: "group" },
        h("h2", { tabindex: "-1" }, "Listening, not claimed"),
        this.count,
        h(
          "span",
          { class: "line push" },
          this.waiting,
          button("Scan now", { icon: "scan", kind: "s ghost", onclick: scan }),
        ),
      ),
      this.list,
      this.words,
    );
    this.quiet = new Quiet(this.list, { over: () => this.waiting.hidden || this.show() });
  }

  /** `fits(row)`: whether the search matches. A listener shown as an app is left out here. */
  draw({ observed, apps, config }, fits) {
    const above = new Set(apps.map(({ observedId }) => observedId));
    const rows = observed.filter(({ id }) => !above.has(id));
    this.rows = rows.map((one) => listenerData(one, config.scan.http));
    this.scanning = config.scan.enabled;
    this.fits = fits;
    this.show();
  }

  show({ atOnce = false } = {}) {
    const visible = this.rows.filter((row) => (this.system || !row.hidden) && this.fits(row));
    const still = !atOnce && this.known && this.quiet.busy;
    const rows = still ? visible.filter(({ id }) => this.known.has(id)) : visible;
    const waiting = visible.length - rows.length;
    this.waiting.hidden = !waiting;
    this.waiting.textContent = `Show ${waiting} new`;
    if (!still) this.known = new Set(visible.map(({ id }) => id));
    this.list.hidden = rows.length === 0;
    this.count.textContent = rows.length ? String(rows.length) : "";
    keep(this.list, rows, ({ id }) => id, row);
    this.say(rows.length);
  }

  say(count) {
    const hidden = this.rows.filter((row) => row.hidden).length;
    const nothing = this.scanning
      ? "Nothing new is listening."
      : "Scanning is off (scan.enabled in config.yaml).";
    const said = JSON.stringify([count > 0, hidden, this.scanning, this.system]);
    if (this.said === said) return;
    this.said = said;
    const press = () => {
      this.system = !this.system;
      this.show({ atOnce: true });
      this.words.querySelector("button")?.focus();
    };
    fill(
      this.words,
      !count && h("span", {}, nothing),
      hidden > 0 && [
        h(
          "span",
          {},
          `${plural(hidden, "listener")} of the system${this.system ? "." : " not shown."}`,
        ),
        button(this.system ? "Hide them" : "Show them", { kind: "s ghost", onclick: press }),
      ],
    );
  }

  focus() {
    const first = this.list.querySelector("button") ?? this.node.querySelector("h2");
    first.focus({ preventScroll: true });
    this.node.scrollIntoView({ block: "start" });
  }
}

function row(one) {
  const place = `${one.name} on port ${one.port}`;
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row heard" },
      h("span", { class: "mono strong" }, String(one.port)),
      h(
        "span",
        { class: "two-lines" },
        h(
          "span",
          { class: "line wrap" },
          h("span", { class: "strong cut" }, one.name),
          one.process &&
            one.process !== one.name &&
            h("span", { class: "quiet small" }, one.process),
          one.lan && h("span", { class: "badge warn" }, "Open to the LAN"),
        ),
        one.about && h("span", { class: "quiet tiny wrap-anywhere" }, one.about),
      ),
      h(
        "span",
        { class: "line" },
        button("Claim", { kind: "s", "aria-label": `Claim ${place}`, onclick: () => claim(one) }),
        button("Ignore", {
          kind: "s ghost",
          "aria-label": `Ignore ${place}`,
          onclick: () => ignore(one),
        }),
      ),
    ),
  );
}
