// A listener without a file: claim it as an app, or ignore it from then on.

import { call, post } from "../../kit/api.js";
import { button, h } from "../../kit/dom.js";
import { dialog } from "../../kit/dialog.js";
import { attempt, toast } from "../../kit/toast.js";
import { route } from "../route.js";
import { EXPECTED } from "./app.js";
import { ask } from "./form.js";

export function claim({ id, name, port, suggested }, made = (_answer) => {}) {
  ask(`Claim ${name}`, {
    intro: `Port ${port}. Writes apps/<name>.yaml; it is found again on any port.`,
    verb: "Claim",
    keep: `claim ${id}`,
    shape: "plus",
    fields: [
      {
        name: "slug",
        label: "Name of its file",
        half: true,
        class: "input mono",
        maxlength: "63",
        value: suggested?.slug ?? "",
      },
      {
        name: "name",
        label: "Name on the page",
        half: true,
        maxlength: "80",
        value: suggested?.name ?? "",
      },
      {
        name: "expected",
        label: "Is it expected to run?",
        kind: "select",
        options: EXPECTED,
        value: suggested?.expected,
      },
    ],
    async send({ slug, name: shown, expected }) {
      const body = { slug, expected, ...(shown && { name: shown }) };
      made(await post(route("observed", id, "claim"), body));
      toast(`Claimed: apps/${slug}.yaml`);
    },
  });
}

export function ignore({ id, name, port, process, cwd }) {
  const ways = [
    ["port", `Everything on port ${port}`],
    process && ["process", `Every process called ${process}`],
    cwd && ["dir", `Everything in ${cwd} and below`],
  ].filter(Boolean);
  const node = dialog(
    `Ignore ${name}`,
    h("h2", { class: "big" }, `Ignore ${name}`),
    h("p", { class: "soft small" }, "Adds a rule to ignore.yaml."),
    h(
      "div",
      { class: "stack spaced" },
      ways.map(([by, label]) =>
        button(label, {
          kind: "choice",
          onclick: (event) =>
            attempt(event, async () => {
              const undo = await rule(id, by);
              node.close();
              toast(`Ignored ${name}. The rule is in ignore.yaml.`, { action: "Undo", act: undo });
            }),
        }),
      ),
    ),
  );
}

/** Write the rule; returns a function that undoes it if the file has not changed since. */
async function rule(id, by) {
  const file = route("ignore");
  const before = await call("GET", file);
  const { etag } = await call("POST", route("observed", id, "ignore"), { by }, before);
  const { text } = before.data;
  return () => attempt(null, () => call("PUT", file, { text }, { etag }));
}
