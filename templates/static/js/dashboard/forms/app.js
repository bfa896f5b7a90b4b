// The form of a new app: what is typed becomes the file apps/<slug>.yaml.

import { call } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { route } from "../route.js";
import { ask, following } from "./form.js";

export const EXPECTED = [
  ["sometimes", "Sometimes: not running is fine"],
  ["always", "Always: down is an alarm"],
  ["never", "Never: running is worth a look"],
];

/** `groups`: the names of the existing groups; `made(app)` receives the app that was created. */
export function newApp({ groups, made }) {
  const { fields } = ask("New app", {
    intro: "Writes apps/<name>.yaml. Everything else can be added there, in any editor.",
    keep: "app",
    verb: "Add app",
    shape: "plus",
    fields: [
      { name: "name", label: "Name", maxlength: "80", half: true },
      {
        name: "slug",
        label: "Name of its file",
        class: "input mono",
        maxlength: "63",
        half: true,
      },
      {
        name: "address",
        label: "Port or address",
        class: "input mono",
        hint: "3000, or https://shop.localhost/",
        half: true,
        paths: ["port", "url"],
      },
      {
        name: "cwd",
        label: "Directory",
        class: "input mono",
        hint: "By it the app is known again when its port moves. ~/code/shop",
        paths: ["match", "service.cwd"],
      },
      {
        name: "command",
        label: "Start command",
        class: "input mono",
        hint: "With one it can be started, stopped and restarted here. npm run dev",
        paths: ["service"],
      },
      {
        name: "expected",
        label: "Is it expected to run?",
        kind: "select",
        options: EXPECTED,
        half: true,
      },
      { name: "group", label: "Group", maxlength: "80", list: groups, half: true },
    ],
    async send(values) {
      const name = values.slug || "app";
      const { data } = await call("PUT", route("apps", name), mapping(values), { create: true });
      toast(`Added: apps/${name}.yaml`);
      made(data);
    },
  });
  following(fields.name, fields.slug);
}

/** The typed values as the mapping of the file; empty ones are left out. */
export function mapping({ name, address, cwd, command, expected, group }) {
  const port = /^\d+$/.test(address) ? Number(address) : undefined;
  const found = {
    name,
    port,
    url: port === undefined ? address : "",
    group,
    expected: expected === "sometimes" ? "" : expected,
    match: cwd && { cwd },
    service: command && { command, ...(cwd && { cwd }) },
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== "" && value));
}
