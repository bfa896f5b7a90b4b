// What listens on this machine and no file declares: make it an app, or never show it again.

import { post } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { dialog } from "../kit/shell.js";
import { attempt, toast } from "../kit/toast.js";
import { route } from "./route.js";

const EXPECTED = [
  ["sometimes", "Sometimes: not running is fine"],
  ["always", "Always: down is an alarm"],
  ["never", "Never: running is worth a look"],
];

/** What is shown of a listener. */
export function shown(one) {
  const { process, cwd, git, framework, title } = one.identity ?? {};
  const version = framework?.version ? `${framework.name} ${framework.version}` : framework?.name;
  const facts = [version, title, cwd, git?.branch && `branch ${git.branch}`];
  return {
    id: one.id,
    port: one.port,
    process: process?.name ?? "",
    name: one.suggested?.name || process?.name || "unknown process",
    cwd: cwd ?? "",
    about: facts.filter(Boolean).join(" · "),
    lan: one.lanExposed,
    suggested: one.suggested,
  };
}

export function row(one) {
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

function claim(one) {
  const slug = field("slug", "Name of its file", {
    value: one.suggested?.slug ?? "",
    class: "input mono",
    maxlength: "63",
    required: true,
  });
  const name = field("name", "Name on the page", {
    value: one.suggested?.name ?? "",
    class: "input",
    maxlength: "80",
  });
  const expected = h(
    "select",
    { class: "input", id: "claim-expected" },
    EXPECTED.map(([value, label]) =>
      h("option", { value, selected: value === one.suggested?.expected }, label),
    ),
  );
  const why = h("p", { class: "problem", id: "claim-why", role: "alert" });
  const form = h(
    "form",
    { class: "stack" },
    h("h2", { class: "big" }, `Claim port ${one.port}`),
    h("p", { class: "soft small" }, "Writes apps/<name>.yaml; it is found again on any port."),
    slug.node,
    name.node,
    h(
      "div",
      { class: "field" },
      h("label", { for: expected.id }, "Is it expected to run?"),
      expected,
    ),
    why,
    h(
      "div",
      { class: "line wrap" },
      h("button", { type: "submit", class: "btn primary" }, icon("plus"), "Claim"),
      button("Cancel", { onclick: () => node.close() }),
    ),
  );
  const node = dialog(`Claim ${one.name}`, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = { slug: slug.input.value.trim(), expected: expected.value };
    if (name.input.value.trim()) body.name = name.input.value.trim();
    try {
      await post(route("observed", one.id, "claim"), body);
      node.close();
      toast(`Claimed: apps/${body.slug}.yaml`);
    } catch (error) {
      fill(why, icon("alert"), h("span", {}, error.message));
      slug.input.focus();
    }
  });
  slug.input.select();
}

function field(id, label, props) {
  const input = h("input", {
    id: `claim-${id}`,
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "claim-why",
    ...props,
  });
  return { input, node: h("div", { class: "field" }, h("label", { for: input.id }, label), input) };
}

function ignore(one) {
  const ways = [
    ["port", `Everything on port ${one.port}`],
    one.process && ["process", `Every process called ${one.process}`],
    one.cwd && ["dir", `Everything in ${one.cwd} and below`],
  ].filter(Boolean);
  const node = dialog(
    `Ignore ${one.name}`,
    h("h2", { class: "big" }, `Ignore ${one.name}`),
    h(
      "p",
      { class: "soft small" },
      "Adds a rule to ignore.yaml; take it out there to see it again.",
    ),
    h(
      "div",
      { class: "stack spaced" },
      ways.map(([by, label]) =>
        button(label, {
          kind: "choice",
          onclick: (event) =>
            attempt(event, async () => {
              await post(route("observed", one.id, "ignore"), { by });
              node.close();
              toast("Ignored. The rule is in ignore.yaml.");
            }),
        }),
      ),
    ),
  );
}
