// Settings of the instance: where notifications about unattended events go.

import { get, post } from "../../kit/api.js";
import { button, fill, h, icon, mark, settle } from "../../kit/dom.js";
import { able, on, onSwitch, toggle } from "../../kit/notify.js";
import { page, problem } from "../../kit/parts.js";
import { onChange } from "../../kit/shell.js";
import { attempt, toast } from "../../kit/toast.js";
import { plural, time } from "../../kit/words.js";
import { stateOf } from "../words.js";

const EXAMPLE = `notify:
  - name: desk
    command: [/home/me/bin/notify-me]
    events: [asked, finished]
  - name: team
    url: env:TEAM_HOOK
    events: [failed, crash_loop]
  - name: phone
    apprise: env:PHONE_URL
    events: [asked, app_down, app_up]`;
/** @type {Record<string, string>} */
const MEANS = {
  asked: "an agent asks for permission",
  finished: "a turn of over a minute is done, and no page shows it",
  failed: "a run of a trigger failed",
  app_down: "an app fell",
  app_up: "an app is up again",
  crash_loop: "an app crashes again and again",
  review: "a thread of a review was answered",
};
const LOOKS = {
  works: { ...stateOf("completed"), word: "Works" },
  untried: { ...stateOf("disabled"), word: "Not used yet" },
  failing: { ...stateOf("failed"), word: "Fails" },
  unusable: { ...stateOf("failed"), word: "Cannot be used" },
};
const seen = { said: "" };

function here() {
  const place = h("div", { class: "inside stack" });
  const draw = () =>
    fill(
      place,
      h(
        "p",
        { class: "soft" },
        on()
          ? "This browser tells you, from any page of svc that is open, also when it is hidden."
          : "Off. A page of svc has to be open somewhere in this browser; it may be hidden.",
      ),
      h(
        "div",
        { class: "line wrap" },
        button(on() ? "Stop notifications in this browser" : "Notify me in this browser", {
          icon: "bell",
          kind: on() ? "" : "primary",
          disabled: !able(),
          onclick: toggle,
        }),
        !able() && h("span", { class: "says warn small" }, "This browser cannot at this address."),
      ),
    );
  draw();
  onSwitch(draw);
  return h(
    "section",
    { class: "card", "aria-label": "In this browser" },
    h("header", {}, h("h2", {}, "In this browser")),
    place,
  );
}

async function test(name, where) {
  fill(where, "Sending…");
  const answer = await attempt(null, () => post(`/api/notify/${encodeURIComponent(name)}/test`));
  if (!answer) return fill(where);
  if (answer.ok) toast(`${name} took the test.`);
  await load(true);
  return undefined;
}

function card(channel) {
  const look = LOOKS[channel.state];
  const said = h("span", { class: "quiet small push", role: "status" });
  const facts = [
    ["Leads to", h("code", {}, channel.shown)],
    ["Notified when", channel.events.map((one) => MEANS[one] ?? one).join("; ")],
    ["Last taken", channel.delivered ? time(channel.delivered) : "nothing yet"],
    ["Waits", channel.waiting > 0 && plural(channel.waiting, "message")],
    ["Given up", channel.givenUp > 0 && plural(channel.givenUp, "message")],
    ["Fails since", channel.since && time(channel.since)],
  ];
  return h(
    "section",
    { class: "card", "aria-label": `Channel ${channel.name}` },
    h(
      "header",
      {},
      mark(look),
      h("h2", {}, channel.name),
      h("span", { class: "quiet small" }, look.word.toLowerCase()),
      said,
      button("Send a test", {
        icon: "send",
        kind: "s",
        "aria-label": `Send a test to ${channel.name}`,
        onclick: () => test(channel.name, said),
      }),
    ),
    h(
      "div",
      { class: "inside stack" },
      channel.error && h("p", { class: "problem" }, icon("alert"), h("span", {}, channel.error)),
      h(
        "dl",
        { class: "facts" },
        facts
          .filter(([, value]) => value)
          .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
    ),
  );
}

function none(file) {
  return h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "No one is notified while no page is open")),
    h(
      "div",
      { class: "inside stack" },
      h(
        "p",
        { class: "soft" },
        "Name channels in ",
        h("code", {}, file),
        " and start the service again. What is secret stays in environment variables.",
      ),
      h(
        "pre",
        { class: "codeblock", tabindex: "0", role: "region", "aria-label": "Example of notify" },
        EXAMPLE,
      ),
    ),
  );
}

async function load(force = false) {
  const answer = await get("/api/notify");
  const fresh = JSON.stringify(answer);
  if (fresh === seen.said && !force) return; // unchanged: do not redraw
  seen.said = fresh;
  const { channels, problems, file } = answer;
  fill(
    page(),
    h(
      "header",
      { class: "pagehead" },
      h(
        "div",
        {},
        h("h1", {}, "Notifications"),
        h("p", {}, "Who is notified when an agent asks, a run fails or an app falls."),
      ),
    ),
    h(
      "div",
      { class: "stack spaced" },
      problems.map((text) => problem(text)),
      here(),
      channels.map(card),
      !channels.length && none(file),
    ),
  );
}

const refresh = () => load().catch((error) => fill(page(), problem(error.message)));
refresh();
onChange(settle(500, refresh));
