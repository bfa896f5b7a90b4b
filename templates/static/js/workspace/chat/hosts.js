// The hosts that the turns of a chat reached or were refused, with the setting that opens them.

import { h, icon } from "../../kit/dom.js";
import { plural } from "../../kit/words.js";

const SHOWN = 30;
const LINK_LOCAL = /^(169\.254\.[\d.]+|\[?fe[89ab][0-9a-f]:.*|metadata\..*)$/;
const METADATA = ["fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"];
const code = (text) => h("code", {}, text);

/** Each kind of refused host: a test for it, and the sentence that names the setting. */
const WHYS = [
  {
    is: (host) => /^(localhost|.*\.localhost|127\.[\d.]+|::1|\[::1\])$/.test(host),
    why: (ports) => [
      "A port of this machine is opened by ",
      code(`network: {hostPorts: [${ports.join(", ")}]}`),
      " in project.yaml; this service's own ports stay closed.",
    ],
  },
  {
    is: (host) => LINK_LOCAL.test(host) || METADATA.includes(host.replace(/^\[|\]$/g, "")),
    why: () => ["Link-local and metadata addresses are never opened."],
  },
  {
    is: () => true,
    why: () => [
      "Another host is refused by ",
      code("network.allow"),
      ", ",
      code("network.deny"),
      " or ",
      code("network: off"),
      " of project.yaml, svc.config.yaml or the trigger, an address of this machine until ",
      code("network.hostPorts"),
      " lists the port.",
    ],
  },
];

/** The content under "Network" of a chat; null if no turn asked for a host. */
export function networkFacts(hosts = []) {
  if (!hosts.length) return null;
  const sorted = [...hosts].sort((one, other) => other.refused - one.refused);
  const rest = sorted.slice(SHOWN);
  return [
    list(sorted.slice(0, SHOWN)),
    rest.length > 0 &&
      h(
        "details",
        { dataset: { fold: "hosts" } },
        h("summary", { class: "small" }, plural(rest.length, "more host")),
        list(rest),
      ),
    whys(hosts.filter(({ refused }) => refused)).map((words) =>
      h("p", { class: "tiny quiet wrap-anywhere" }, words),
    ),
  ];
}

const list = (hosts) =>
  h(
    "ul",
    { class: "stack tight" },
    hosts.map(({ host, port, refused }) => {
      const name = `${host.includes(":") ? `[${host.replace(/^\[|\]$/g, "")}]` : host}:${port}`;
      return h(
        "li",
        { class: "line small" },
        h("span", { class: "mono cut", title: name }, name),
        refused && h("span", { class: "says bad push" }, icon("alert"), h("span", {}, "refused")),
      );
    }),
  );

function whys(refused) {
  const ports = new Map();
  for (const { host, port } of refused) {
    const kind = WHYS.find(({ is }) => is(host.toLowerCase()));
    ports.set(kind, [...new Set([...(ports.get(kind) ?? []), port])]);
  }
  return [...ports].map(([kind, listed]) => kind.why(listed));
}
