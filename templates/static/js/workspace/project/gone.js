// Says on every open page of a project that the project is deleted, and restores it. The pages of
// all projects have no use for it.

import { get, P, post } from "../../kit/api.js";
import { button, h, icon, settle } from "../../kit/dom.js";
import { where } from "../../kit/shell.js";
import { follow } from "../../kit/stream.js";
import { attempt } from "../../kit/toast.js";

const WORDS =
  "This project is deleted, or its folder has another name. The page shows what was here.";
const slug = where.project;
const bar = h(
  "div",
  { class: "bar warn", role: "alert" },
  icon("trash"),
  h("span", { class: "grow" }, WORDS),
  button("Restore", { onclick: (event) => attempt(event, () => post(P(slug, "restore"))) }),
);

async function look() {
  try {
    await get(P(slug));
    bar.remove();
  } catch (error) {
    if (error.status === 404) document.getElementById("bars").append(bar);
  }
}

const soon = settle(150, look); // the folder is moved in more than one step
if (slug)
  follow("/api/events", {
    open: soon,
    project: (event) => event.slug === slug && soon(),
  });
