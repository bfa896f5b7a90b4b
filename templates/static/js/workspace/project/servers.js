// The MCP servers of a project, which of them are used, and the user's consent to its own file.

import { call, get, P, post } from "../../kit/api.js";
import { button, fill, h, icon, mark } from "../../kit/dom.js";
import { problem } from "../../kit/parts.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural, time } from "../../kit/words.js";
import { stateOf } from "../words.js";

const SOURCE = { project: "project.yaml", instance: "svc.config.yaml", file: ".mcp.json" };
const ASKING = {
  asks: "This project brings servers of its own. None is started before you agree to them.",
  changed: "This file has changed since you agreed to it, so none of its servers is used now.",
};

/** The state of a server as shape, tone and word. */
function look({ state, reason, lastError }) {
  if (state === "asks") return { ...stateOf("held"), word: "Not used yet" };
  if (state === "off") return { ...stateOf("disabled"), word: "Off" };
  if (reason) return { ...stateOf("failed"), word: "Cannot start" };
  if (lastError) return { ...stateOf("failed"), word: "Did not start" };
  return { ...stateOf("completed"), word: "Used" };
}

function row(server) {
  const shown = look(server);
  const why = server.state === "asks" ? null : (server.reason ?? server.lastError);
  const given = [
    ...server.env.map(({ name, value }) => (value === null ? name : `${name}=${value}`)),
    ...server.headers.map((name) => `${name}: …`),
  ];
  return h(
    "li",
    { class: "server" },
    h(
      "div",
      { class: "line wrap" },
      mark(shown, false),
      h("strong", {}, server.name),
      h("span", { class: "quiet small" }, `${shown.word.toLowerCase()}, ${SOURCE[server.source]}`),
      server.tools?.length > 0 &&
        h(
          "span",
          { class: "quiet small", title: server.tools.join(", ") },
          plural(server.tools.length, "tool"),
        ),
    ),
    server.shown && h("code", { class: "small" }, server.shown),
    given.length > 0 && h("p", { class: "quiet small" }, "With ", given.join(", ")),
    why &&
      h(
        "p",
        { class: "says warn small" },
        icon("alert"),
        h("span", {}, why, server.seenAt && !server.reason && [" (", time(server.seenAt), ")"]),
      ),
  );
}

/** The consent to the project's .mcp.json, if there is one. */
function consent(file, act) {
  if (!file) return null;
  if (file.error) return problem(`${file.error}; no server of it is used.`);
  if (file.state === "used")
    return h(
      "div",
      { class: "line wrap" },
      h("span", { class: "soft small" }, "You agreed to .mcp.json as it is now."),
      button("Stop using", { kind: "s", onclick: (event) => act(event, false) }),
    );
  return h(
    "div",
    { class: "banner warn" },
    icon("alert"),
    h(
      "div",
      { class: "stack tight" },
      h("p", {}, ASKING[file.state]),
      h(
        "p",
        { class: "small" },
        "They run as commands of an agent do, within the walls of a turn.",
      ),
      h(
        "div",
        {},
        button("Use these servers", { kind: "s", onclick: (event) => act(event, true) }),
      ),
    ),
  );
}

/** The section of the settings page; it loads its own data. */
export function servers(slug) {
  const inside = h("div", { class: "inside stack" });
  const act = (event, use) =>
    attempt(event, async () => {
      const path = P(slug, "servers", "use");
      draw(use ? await post(path, { sha256: said.file }) : (await call("DELETE", path, {})).data);
      toast(use ? "Used from the next turn on." : "No longer used.");
    });
  const said = { file: "" };
  const draw = ({ servers: rows, file }) => {
    said.file = file?.sha256 ?? "";
    fill(
      inside,
      consent(file, act),
      rows.length > 0 && h("ul", { class: "servers" }, rows.map(row)),
      rows.length === 0 &&
        !file &&
        h(
          "p",
          { class: "soft" },
          "None. Name them under ",
          h("code", {}, "mcpServers"),
          " in project.yaml, or for all projects in svc.config.yaml.",
        ),
    );
  };
  get(P(slug, "servers")).then(draw, (error) => fill(inside, problem(error.message)));
  return h(
    "section",
    { class: "card", id: "servers" },
    h("header", {}, h("h2", {}, "MCP servers")),
    inside,
  );
}
