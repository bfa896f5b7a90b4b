// The menu of one app: its actions, with the reason where one is not possible.

import { toast } from "../../kit/toast.js";
import { takeAway } from "../forms/text.js";
import { ACTIONS, unable } from "./services.js";

const showError = (error) => toast(error.message, { bad: true });

/** `hands`: the callbacks: open(slug, tab), visit(slug), act(action, slug), edit, pick, claim, … */
export function items(app, hands) {
  const { slug, name, url, source } = app;
  const services = Object.entries(ACTIONS).map(([action, { label, icon }]) => {
    const why = hands.busy(slug) ? "Wait for the last action." : unable(action, app);
    const key = { start: "s", stop: "s", restart: "r" }[action];
    const act = () => hands.act(action, slug);
    return { label, icon, act, disabled: Boolean(why), why, key: why ? "" : key };
  });
  const declared = source === "declared";
  return [
    url && { label: "Open", icon: "out", key: "Enter", act: () => hands.visit(slug) },
    { label: "Details", icon: "info", key: "d", act: () => hands.open(slug) },
    app.service && { label: "Logs", icon: "file", key: "l", act: () => hands.open(slug, "Logs") },
    { label: "History", icon: "clock", act: () => hands.open(slug, "History") },
    "-",
    ...services,
    "-",
    { label: "Select", icon: "check", key: "x", act: () => hands.pick(slug, false) },
    { label: "New picture", icon: "restart", act: () => hands.picture([slug]) },
    declared && { label: "Edit the file", icon: "pencil", act: () => hands.edit("apps", slug) },
    !declared && { label: "Claim", icon: "plus", act: () => hands.claim(app) },
    !declared && { label: "Ignore", icon: "x", act: () => hands.ignore(app) },
    declared && {
      label: "Remove",
      icon: "trash",
      act: () => takeAway("apps", slug, name).catch(showError),
    },
  ];
}
