// One app: picture, name, address, state, and what can be done with its service.

import { post } from "../kit/api.js";
import { button, h, icon } from "../kit/dom.js";
import { dialog } from "../kit/shell.js";
import { toast } from "../kit/toast.js";
import { route } from "./route.js";
import { trouble } from "./trouble.js";
import { safe, saying, shortly } from "./words.js";

const ACTIONS = [
  ["start", "Start", "play"],
  ["stop", "Stop", "stop"],
  ["restart", "Restart", "restart"],
];
const RESTING = new Set(["stopped", "failed"]);

/** Why an action makes no sense now; "" when it does. */
function unable(action, { status }) {
  const running = !RESTING.has(status);
  if (status === "stopping") return "It is stopping.";
  if (action === "start") return running ? "It is running already." : "";
  return running ? "" : "It is not running.";
}

export class Tiles {
  /** `changed(app)` takes the app of an answer, or nothing when only a tile must be drawn anew. */
  constructor(changed) {
    Object.assign(this, { changed, busy: new Map(), failed: new Map() });
  }

  /** What of an app is shown: a tile is drawn anew only when some of it changed. */
  shown(app) {
    const { slug, name, source, state, reason, message, since, stale, flapping, unexpected } = app;
    return {
      ...{ slug, name, source, state, reason, message, since, stale, flapping, unexpected },
      url: safe(app.urls?.fronted ?? app.url),
      thumb: app.thumbEtag,
      kind: app.thumbKind,
      status: app.service?.status ?? null,
      always: app.expected === "always",
      busy: this.busy.get(slug) ?? "",
      failed: this.failed.get(slug) ?? null,
    };
  }

  draw(app) {
    const off = app.state === "stopped" || app.state === "unknown";
    return h(
      "li",
      { class: off ? "tile off" : "tile" },
      h("img", {
        class: "thumb",
        dataset: { kind: app.kind },
        src: `${route("apps", app.slug, "thumb")}?v=${encodeURIComponent(app.thumb)}`,
        alt: "",
        width: "640",
        height: "400",
        loading: "lazy",
      }),
      h(
        "div",
        { class: "in" },
        h(
          "div",
          { class: "line" },
          h("h3", { class: "cut", title: app.name }, app.name),
          app.source === "discovered" && h("span", { class: "badge line push" }, "Found"),
        ),
        app.url &&
          h(
            "a",
            {
              class: "mono quiet cut addr",
              href: app.url,
              target: "_blank",
              rel: "noopener noreferrer",
              "aria-label": `Open ${app.name}, ${shortly(app.url)}, in a new tab`,
            },
            shortly(app.url),
          ),
        saying(app),
        app.status && this.actions(app),
        app.failed &&
          trouble(app.failed, app.name, () => {
            this.failed.delete(app.slug);
            this.changed();
          }),
      ),
    );
  }

  actions(app) {
    return h(
      "div",
      { class: "line wrap acts", role: "group", "aria-label": `Service of ${app.name}` },
      ACTIONS.map(([action, label, shape]) => {
        const why = app.busy ? "" : unable(action, app);
        return h(
          "button",
          {
            type: "button",
            class: "btn s",
            "aria-label": `${label} ${app.name}`,
            "aria-disabled": why ? "true" : null,
            "aria-busy": app.busy === action ? "true" : null,
            title: why || null,
            onclick: () => (why ? toast(`${app.name}: ${why}`) : this.ask(action, label, app)),
          },
          icon(shape),
          label,
        );
      }),
    );
  }

  /** Only the stop of an app that should always run is worth a question. */
  ask(action, label, app) {
    if (this.busy.has(app.slug)) return;
    if (action !== "stop" || !app.always) {
      this.act(action, app);
      return;
    }
    const node = dialog(
      `Stop ${app.name}`,
      h("h2", { class: "big" }, `Stop ${app.name}?`),
      h("p", { class: "soft" }, "Its file says that it is always expected to run."),
      h(
        "div",
        { class: "line wrap spaced" },
        button(label, {
          icon: "stop",
          kind: "primary",
          onclick: () => {
            node.close();
            this.act(action, app);
          },
        }),
        button("Keep it running", { onclick: () => node.close() }),
      ),
    );
  }

  async act(action, { slug, name }) {
    this.busy.set(slug, action);
    this.failed.delete(slug);
    this.changed();
    let answer = null;
    try {
      answer = await post(route("apps", slug, "service", action));
      if (!answer.ok) {
        const reason = answer.reason ? ` (${answer.reason})` : "";
        this.failed.set(slug, { reason: `Did not ${action}${reason}.`, log: answer.log });
      } else if (answer.already) toast(`${name}: nothing to ${action}.`);
    } catch (error) {
      this.failed.set(slug, { reason: error.message, log: [] });
    }
    this.busy.delete(slug);
    this.changed(answer?.app);
  }
}
