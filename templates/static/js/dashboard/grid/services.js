// Start, stop and restart: when they are possible, how they are requested, and their result.

import { post } from "../../kit/api.js";
import { button, h } from "../../kit/dom.js";
import { dialog } from "../../kit/dialog.js";
import { toast } from "../../kit/toast.js";
import { route } from "../route.js";

export const ACTIONS = {
  start: { label: "Start", icon: "play", doing: "Starting" },
  stop: { label: "Stop", icon: "stop", doing: "Stopping" },
  restart: { label: "Restart", icon: "restart", doing: "Restarting" },
};
const RESTING = new Set(["stopped", "failed"]);

/** The reason why an action is not possible, as a sentence; "" when it is. */
export function unable(action, { slug, source, service }) {
  if (!service)
    return source === "declared"
      ? `No start command in apps/${slug}.yaml.`
      : "It has no file yet. Claim it first.";
  const running = !RESTING.has(service.status);
  if (service.status === "backoff") return ""; // it waits to be restarted: all actions are possible
  if (service.status === "stopping") return "It is stopping.";
  if (action === "start") return running ? "It is running already." : "";
  return running ? "" : "It is not running.";
}

/** The action of a tile's button, "claim" for an app that has no file, or null. */
export function usual({ service, state, unexpected, source }) {
  if (source === "discovered") return "claim";
  if (!service || service.status === "stopping") return null;
  if (RESTING.has(service.status)) return "start";
  return unexpected || !["down", "degraded"].includes(state) ? "stop" : "restart";
}

export class Services {
  busy = new Map();

  /** `changed(app)` gets the app of an answer, if it has one; `failed(app, log, why)` shows why. */
  constructor({ changed, failed }) {
    this.changed = changed;
    this.failed = failed;
  }

  /** Run an action; only the stop of an app that should always run asks for confirmation. */
  ask(action, app) {
    const why = this.busy.has(app.slug) ? "Wait for the last action." : unable(action, app);
    if (why) toast(`${app.name}: ${why}`);
    else if (action === "stop") this.stop([app], () => this.act(action, app));
    else this.act(action, app);
  }

  /** Call `act` to stop the apps; ask first if one of them should always run. */
  stop(apps, act) {
    const always = apps.filter(({ expected }) => expected === "always").map(({ name }) => name);
    if (!always.length) {
      act();
      return;
    }
    const [one, ...others] = apps;
    const what = others.length ? `${apps.length} apps` : one.name;
    const why = others.length
      ? `Always expected to run, by their files: ${always.join(", ")}.`
      : "Its file says that it is always expected to run.";
    const node = dialog(
      `Stop ${what}`,
      h("h2", { class: "big" }, `Stop ${what}?`),
      h("p", { class: "soft wrap-anywhere" }, why),
      h(
        "div",
        { class: "line wrap spaced" },
        button("Stop", {
          icon: "stop",
          kind: "primary",
          onclick: () => {
            node.close();
            act();
          },
        }),
        button(others.length ? "Keep them running" : "Keep it running", {
          onclick: () => node.close(),
        }),
      ),
    );
  }

  /** Run an action. Resolves to "" or to why it failed. `quiet`: the caller shows the reason. */
  async act(action, app, { quiet = false } = {}) {
    this.busy.set(app.slug, action);
    this.changed();
    let answer = null;
    let why = "";
    try {
      answer = await post(route("apps", app.slug, "service", action));
      if (!answer.ok) why = `Did not ${action}${answer.reason ? ` (${answer.reason})` : ""}.`;
    } catch (error) {
      why = error.message;
    }
    this.busy.delete(app.slug);
    this.changed(answer?.app);
    if (quiet) return why;
    if (why) toast(`${app.name}: ${why}`, { bad: true });
    if (answer && !answer.ok) this.failed(app, answer.log, why);
    return why;
  }
}
