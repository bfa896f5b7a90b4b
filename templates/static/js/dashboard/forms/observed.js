// What listens without a file: made an app, or never shown again.

import { post } from "../../kit/api.js";
import { button, h } from "../../kit/dom.js";
import { dialog } from "../../kit/dialog.js";
import { attempt, toast } from "../../kit/toast.js";
import { route } from "../route.js";
import { EXPECTED } from "./app.js";
import { ask } from "./form.js";

export function claim({ id, name, port, suggested }, made = () => {}) {
  ask(`Claim ${name}`, {
    intro: `Port ${port}. Writes apps/<name>.yaml; it is found again on any port.`,
    verb: "Claim",
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
              await post(route("observed", id, "ignore"), { by });
              node.close();
              toast("Ignored. The rule is in ignore.yaml.");
            }),
        }),
      ),
    ),
  );
}
