// Apps that ran before the machine's last restart and are not back: start them again, or dismiss.

import { post } from "../kit/api.js";
import { button, h, icon } from "../kit/dom.js";
import { attempt, toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { route } from "./route.js";
import { trouble } from "./trouble.js";
import { clock } from "./words.js";

export class Lost {
  busy = new Map();
  failed = new Map();

  /** `changed` is called when the notice must be redrawn or fetched again. */
  constructor(changed) {
    this.changed = changed;
  }

  /** The data of the notice; null when there is no notice. */
  noticeData(lost) {
    if (!lost?.items.length) return null;
    const { bootedAt, items } = lost;
    return {
      bootedAt,
      items: items.map((item) => ({
        ...item,
        busy: this.busy.get(item.id) ?? "",
        failed: this.failed.get(item.id) ?? null,
      })),
    };
  }

  draw({ bootedAt, items }) {
    const were = items.length === 1 ? "was" : "were";
    return h(
      "section",
      { class: "banner warn lost", "aria-labelledby": "lost-head" },
      icon("restart"),
      h(
        "div",
        {},
        h(
          "div",
          { class: "line wrap" },
          h(
            "h2",
            { id: "lost-head" },
            `${plural(items.length, "app")} ${were} running before the restart at ${clock(bootedAt)}.`,
          ),
          button("Dismiss all", {
            kind: "s ghost push",
            onclick: (event) => attempt(event, () => this.send("dismiss")),
          }),
        ),
        h(
          "ul",
          {},
          items.map((item) => this.row(item)),
        ),
      ),
    );
  }

  row(item) {
    const about = [item.command, item.cwd].filter(Boolean).join(" · ");
    return h(
      "li",
      {},
      h(
        "div",
        { class: "two-lines" },
        h(
          "span",
          { class: "line" },
          h("span", { class: "strong cut" }, item.name),
          item.port && h("span", { class: "mono soft" }, `:${item.port}`),
        ),
        h("span", { class: "soft tiny wrap-anywhere" }, item.blocked ? blockedReason(item) : about),
      ),
      h(
        "span",
        { class: "line wrap" },
        item.canRestart && this.start(item, "restart", "Start once"),
        item.canService && this.start(item, "service", "Keep as service"),
        button("Dismiss", {
          kind: "s ghost",
          "aria-label": `Dismiss ${place(item)}`,
          onclick: (event) => attempt(event, () => this.send(item.id, "dismiss")),
        }),
      ),
      item.failed &&
        trouble(item.failed, item.name, () => {
          this.failed.delete(item.id);
          this.changed();
        }),
    );
  }

  start(item, action, label) {
    return h(
      "button",
      {
        type: "button",
        class: "btn s",
        "aria-label": `${label}: ${place(item)}`,
        "aria-busy": item.busy === action ? "true" : null,
        onclick: () => this.begin(item, action),
      },
      label,
    );
  }

  async begin({ id, name }, action) {
    if (this.busy.has(id)) return;
    this.busy.set(id, action);
    this.failed.delete(id);
    this.changed();
    try {
      const { ok, reason, log } = await post(route("lost", id, action));
      if (ok) toast(`${name} runs again.`);
      else this.failed.set(id, { reason: `Did not come up (${reason ?? "no reason"}).`, log });
    } catch (error) {
      this.failed.set(id, { reason: error.message, log: [] });
    }
    this.busy.delete(id);
    this.changed();
  }

  async send(...parts) {
    await post(route("lost", ...parts));
    this.changed();
  }
}

const place = ({ name, port }) => (port ? `${name} on port ${port}` : name);

const blockedReason = (item) => `Cannot start: ${item.blocked}${item.cwd ? ` (${item.cwd})` : ""}`;
