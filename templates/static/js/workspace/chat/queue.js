// The waiting messages in order, and the reason why they are held.

import { P, post, remove } from "../../kit/api.js";
import { button, fill, h, icon, keep } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural } from "../../kit/words.js";
import { senderWords } from "../words.js";

/** queue(project, chat, {edit(prompt)}) → {nodes, draw(rows)} */
export function queue(project, chat, { edit }) {
  const route = P(project, "chats", chat, "queue");
  const list = h("ol", { class: "queue", hidden: true });
  const held = h("div");

  const one = (id) => `${route}/${encodeURIComponent(id)}`;
  const takeOut = (id) => remove(one(id));
  const putBack = (id) => attempt(null, () => post(`${one(id)}/restore`));
  const withdraw = (row) => async (event) => {
    if (!(await attempt(event, () => takeOut(row.id)))) return;
    const fired = row.sender?.kind === "trigger"; // its run is over
    const undo = { action: "Put back", act: () => putBack(row.id) };
    toast("Taken out of the queue.", fired ? {} : undo);
  };
  const change = (row) => async (event) => {
    if (await attempt(event, () => takeOut(row.id))) edit(row.prompt);
  };

  const item = ({ row, place }) =>
    h(
      "li",
      {},
      h("span", { class: "place" }, String(place)),
      h("span", { class: "cut", title: row.prompt }, row.prompt),
      h(
        "span",
        { class: "tiny quiet push phone-hide nowrap" },
        [row.state === "held" ? "held" : place === 1 ? "next" : "", senderWords(row.sender)]
          .filter(Boolean)
          .join(" · "),
      ),
      row.sender?.kind === "user" &&
        button("", {
          icon: "pencil",
          kind: "ghost s only",
          "aria-label": `Take message ${place} back to edit it`,
          onclick: change(row),
        }),
      button("", {
        icon: "x",
        kind: "ghost s only",
        "aria-label": `Take message ${place} out of the queue`,
        onclick: withdraw(row),
      }),
    );

  function draw(rows) {
    const waiting = rows.filter((row) => row.state === "queued" || row.state === "held");
    list.hidden = waiting.length === 0;
    list.setAttribute("aria-label", `Queue, ${plural(waiting.length, "message")}`);
    keep(
      list,
      waiting.map((row, n) => ({ row, place: n + 1 })),
      ({ row }) => row.id,
      item,
    );
    const rest = waiting.filter((row) => row.state === "held");
    fill(held, rest.length > 0 && banner(rest));
  }

  const banner = (rows) =>
    h(
      "div",
      { class: "banner warn held" },
      icon("pause"),
      h(
        "div",
        {},
        `${plural(rows.length, "message")} held (${rows[0].reason.replace(/\.$/, "")}). `,
        "A new message also lets them go on.",
      ),
      button("Resume queue", {
        onclick: (event) => attempt(event, () => post(`${route}/resume`)),
      }),
    );

  return { nodes: [held, list], draw };
}
