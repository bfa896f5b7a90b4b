// The management clients of /mcp, with their scopes; and how to connect one.

import { get } from "../kit/api.js";
import { button, fill, h, icon, mark, settle } from "../kit/dom.js";
import { command, page, problem } from "../kit/parts.js";
import { onChange } from "../kit/shell.js";
import { copy } from "../kit/toast.js";
import { plural, time } from "../kit/words.js";
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
const said = { clients: "" };
const SECRET = "export SVC_TOKEN_CI=svc_home_$(openssl rand -hex 24)";

const variable = (client) => client.ref.replace("env:", "");
const CONNECT = {
  "Claude Code": (url, name) =>
    `claude mcp add --transport http svc ${url}/mcp --header "Authorization: Bearer $${name}"`,
  Cursor: (url, name) =>
    JSON.stringify(
      {
        mcpServers: {
          svc: { url: `${url}/mcp`, headers: { Authorization: `Bearer \${env:${name}}` } },
        },
      },
      null,
      2,
    ),
  curl: (url, name) =>
    [
      `curl ${url}/mcp -H "Authorization: Bearer $${name}"`,
      `  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"`,
      `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'`,
    ].join(" \\\n"),
};

/** The lines that connect a client, for the chosen program. */
function connect(client, url) {
  const text = (program) => CONNECT[program](url, variable(client));
  const shown = h("div");
  const show = (program) =>
    fill(
      shown,
      h(
        "div",
        { class: "code" },
        h(
          "pre",
          { class: "codeblock", tabindex: "0", role: "region", "aria-label": `For ${program}` },
          text(program),
        ),
        button("", {
          icon: "copy",
          kind: "ghost s only copy",
          "aria-label": `Copy: for ${program}`,
          onclick: () => copy(text(program), "Copied"),
        }),
      ),
    );
  const pick = h(
    "div",
    { class: "seg", role: "radiogroup", "aria-label": `Connect ${client.clientId} with` },
    Object.keys(CONNECT).map((program, n) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: `connect-${client.clientId}`,
          checked: n === 0,
          onchange: () => show(program),
        }),
        program,
      ),
    ),
  );
  show(Object.keys(CONNECT)[0]);
  return h("div", { class: "stack tight" }, h("div", { class: "line wrap" }, pick), shown);
}

const operations = ({ operations: names }) =>
  names?.length ? names.map((name) => [h("code", {}, name), " "]) : "none";

function card(client, url) {
  const off = client.status !== "enabled";
  const look = off
    ? { ...stateOf("failed"), word: "Dropped" }
    : { ...stateOf("completed"), word: "Enabled" };
  const scope = [
    ["Operations", operations(client)],
    ["Scopes", client.coarseScopes?.join(", ")],
    ["Projects", client.projects?.join(", ") || "none"],
    ["Token", h("code", {}, client.ref)],
    ["Spawn depth", client.maxSpawnDepth ?? "as the project"],
    ["Highest mode", client.scope?.permissionMode],
    [
      "Last used",
      client.lastUsedAt
        ? [time(client.lastUsedAt), client.lastPeer && ` from ${client.lastPeer}`]
        : "never",
    ],
    [
      "Last 24 h",
      [
        plural(client.calls24h, "call"),
        client.failures24h > 0 &&
          h("span", { class: "failures" }, `, ${client.failures24h} failed`),
      ],
    ],
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
        scope
          .filter(([, value]) => value)
          .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
      !off && url && connect(client, url),
    ),
  );
}

function setupCard() {
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
  const answer = await get("/api/clients");
  const fresh = JSON.stringify(answer);
  if (fresh === said.clients) return; // unchanged: do not redraw
  said.clients = fresh;
  const { enabled, publicUrl, instanceId, discovery, trustedProxies, clients } = answer;
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
      !clients.length && setupCard(),
    ),
  );
}

const refresh = () => load().catch((error) => fill(page(), problem(error.message)));
refresh();
onChange(settle(500, refresh));
