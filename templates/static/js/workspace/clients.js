// Who may call /mcp, with what; and how to let somebody in.

import { get } from "../kit/api.js";
import { fill, h, icon, mark } from "../kit/dom.js";
import { command, page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { time } from "../kit/words.js";
import { stateOf } from "./words.js";

const EXAMPLE = `managementApi:
  publicUrl: ${location.origin}
  instanceId: home
  clients:
    ci:
      auth: {type: token, ref: env:SVC_TOKEN_CI}
      scope:
        projects: [demo]
        allow: [list_*, read_chat, send_message]`;
const SECRET = "export SVC_TOKEN_CI=svc_home_$(openssl rand -hex 24)";

const connect = (url, client) =>
  `claude mcp add --transport http svc ${url}/mcp --header "Authorization: Bearer $${client.ref.replace("env:", "")}"`;

function card(client, url) {
  const off = client.status !== "enabled";
  const look = off
    ? { ...stateOf("failed"), word: "Dropped" }
    : { ...stateOf("completed"), word: "Enabled" };
  const scope = [
    ["Operations", client.operations?.join(", ") || "none"],
    ["Projects", client.projects?.join(", ") || "none"],
    ["Token", h("code", {}, client.ref)],
    ["Spawn depth", client.maxSpawnDepth ?? "as the project"],
    [
      "Last used",
      client.lastUsedAt
        ? [time(client.lastUsedAt), client.lastPeer && ` from ${client.lastPeer}`]
        : "never",
    ],
    ["Last 24 h", `${client.calls24h ?? 0} calls, ${client.failures24h ?? 0} failed`],
  ];
  return h(
    "section",
    { class: "card", "aria-label": `Client ${client.clientId}` },
    h(
      "header",
      {},
      mark(look),
      h("h2", {}, client.clientId),
      h("span", { class: "quiet small" }, look.word.toLowerCase()),
      client.codeExecution && h("span", { class: "badge warn" }, icon("alert"), "can run code"),
      h(
        "a",
        { class: "push tiny link", href: `/audit?client=${encodeURIComponent(client.clientId)}` },
        "Its calls",
      ),
    ),
    h(
      "div",
      { class: "inside stack" },
      client.reason && h("p", { class: "problem" }, icon("alert"), h("span", {}, client.reason)),
      (client.warnings ?? []).map((text) =>
        h("p", { class: "says warn small" }, icon("alert"), text),
      ),
      h(
        "dl",
        { class: "facts" },
        scope.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
      !off && url && command(connect(url, client), "the line that connects this client"),
    ),
  );
}

function closed() {
  return h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "Let a client in")),
    h(
      "div",
      { class: "inside stack" },
      h(
        "p",
        { class: "soft" },
        "Nothing answers on ",
        h("code", {}, "/mcp"),
        " until ",
        h("code", {}, "svc.config.yaml"),
        " names a public address and a client. The token stays in an environment variable.",
      ),
      h(
        "pre",
        { class: "codeblock", tabindex: "0", "aria-label": "Example of svc.config.yaml" },
        EXAMPLE,
      ),
      command(SECRET, "the command that makes a token"),
      h("p", { class: "soft" }, "Then start the service again."),
    ),
  );
}

async function load() {
  const { enabled, publicUrl, instanceId, discovery, trustedProxies, clients } =
    await get("/api/clients");
  const facts = [
    ["Endpoint", enabled ? h("code", {}, `${publicUrl}/mcp`) : "off: it answers 404"],
    ["Instance", instanceId ?? "not bound"],
    ["Discovery", discovery ? "published" : "not published"],
    ["Trusted proxies", trustedProxies.join(", ") || "none"],
  ];
  fill(
    page(),
    h(
      "header",
      { class: "pagehead" },
      h(
        "div",
        {},
        h("h1", {}, "Clients"),
        h(
          "p",
          {},
          "Agents, jobs and other machines that may drive this service over ",
          h("code", { class: "inline-code" }, "/mcp"),
          ".",
        ),
      ),
      h("a", { class: "btn", href: "/audit" }, "Audit"),
    ),
    h(
      "section",
      { class: "card" },
      h(
        "header",
        {},
        mark(enabled ? { ...stateOf("completed"), word: "On" } : stateOf("disabled")),
        h("h2", {}, enabled ? "The endpoint is on" : "The endpoint is off"),
      ),
      h(
        "div",
        { class: "inside" },
        h(
          "dl",
          { class: "facts" },
          facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
        ),
      ),
    ),
    h(
      "div",
      { class: "stack spaced" },
      clients.map((client) => card(client, publicUrl)),
      !clients.length && closed(),
    ),
  );
}

load().catch((error) => fill(page(), problem(error.message)));
