// No model is set up: what that means, and three ways to go on, each tried in place.

import { get } from "../kit/api.js";
import { dialog } from "../kit/dialog.js";
import { button, fill, h } from "../kit/dom.js";
import { command } from "../kit/parts.js";
import { attempt } from "../kit/toast.js";

const OLLAMA = "http://127.0.0.1:11434/v1";

/** The engines with models, which say what they lack, when none is available; else null. */
export async function lacking() {
  const { engines } = await get("/api/engines");
  const models = engines.filter(({ name }) => name !== "runbook");
  return models.some(({ available }) => available) ? null : models;
}

/**
 * The ways to get an answer, as buttons; `runbook()` writes an example, `found()` is called once a
 * model is available.
 * @param {{runbook?: (event: Event) => unknown, found: () => unknown}} acts
 */
export const ways = ({ runbook, found }) => [
  button("Set a key", { kind: "s", onclick: (event) => guide(event, KEY, found) }),
  button("Use a local model", { kind: "s", onclick: (event) => guide(event, LOCAL, found) }),
  runbook && button("Try a runbook", { kind: "s", onclick: runbook }),
];

const KEY = {
  title: "Set a key",
  install: "make engines",
  words:
    "svc reads a key from the environment it is started with and stores it nowhere. Stop it and start it with one, here of Anthropic; OPENAI_API_KEY works too.",
  start: "ANTHROPIC_API_KEY=… make run",
};
const LOCAL = {
  title: "Use a local model",
  install: "make engine-models",
  words: `svc asks a model server at ${OLLAMA}, where Ollama listens. Start yours; for another address, start svc with it:`,
  start: "SVC_LOCAL_MODEL_URL=http://127.0.0.1:8080/v1 make run",
};

const guide = (event, way, found) =>
  attempt(event, async () => {
    const missing = await lacking();
    if (!missing) return found();
    const said = h("div", { class: "small soft", role: "status" });
    const bare = missing.find(({ name }) => name === "builtin").reason.includes("not installed");
    const node = dialog(
      way.title,
      h(
        "div",
        { class: "stack" },
        h("h2", { class: "big" }, way.title),
        bare && h("p", {}, "Once, install what talks to models:"),
        bare && command(way.install, "the command that installs it"),
        h("p", {}, way.words),
        command(way.start, "the command that starts svc"),
        said,
        h(
          "div",
          { class: "line wrap" },
          button("Look again", {
            kind: "primary",
            onclick: (again) => look(again, node, said, found),
          }),
          button("Close", { onclick: () => node.close() }),
        ),
      ),
    );
    return node;
  });

const look = (event, node, said, found) =>
  attempt(event, async () => {
    const missing = await lacking();
    if (missing)
      fill(
        said,
        "No model yet:",
        h(
          "ul",
          { class: "plain" },
          missing.map(({ name, reason }) => h("li", {}, `${name}: ${reason}`)),
        ),
      );
    else {
      node.close();
      found();
    }
  });
