// A chat: history from the API, then its event stream, which resumes exactly where it stopped.

import { get, P, post, remove } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { chatList } from "./chatlist.js";
import { composer } from "./composer.js";
import { drawFacts, menu } from "./facts.js";
import { key, onChange, where } from "../kit/shell.js";
import { follow } from "../kit/stream.js";
import { attempt } from "../kit/toast.js";
import { Transcript } from "./transcript.js";
import { plural } from "../kit/words.js";
import { senderWords } from "./words.js";

const { project: slug, chat: id } = where;
const route = P(slug, "chats", id);
const dock = document.getElementById("dock");
const state = { running: false, queued: 0, held: 0, rows: [], chat: null };

function newChat() {
  const write = composer({
    key: `new:${slug}`,
    project: slug,
    label: "Start chat",
    send: async ({ prompt, model }) => {
      const { chat } = await post(P(slug, "chats"), { prompt, ...(model && { model }) });
      location.assign(`/projects/${slug}/chats/${chat.sessionId}`);
    },
  });
  write.placeholder("Write a message to start a chat.");
  dock.append(write.node);
  fill(
    document.getElementById("lines"),
    h(
      "div",
      { class: "empty" },
      h("h2", { class: "big" }, "A new chat"),
      h("p", {}, "Choose a chat at the left, or write the first message below."),
    ),
  );
  document.getElementById("side").hidden = true;
  document.getElementById("chat").classList.add("no-side");
  write.focus();
}

async function openChat() {
  const transcript = new Transcript(document.getElementById("lines"), {
    answer: (call, allow) => post(P(slug, "chats", id, "permissions", call), { allow }),
    again: (prompt) => post(`${route}/messages`, { prompt }),
    earlier: (before) => get(`${route}/messages?limit=100&before=${before}`),
    project: slug,
  });
  const { messages, next, total } = await get(`${route}/messages?limit=100`);
  const from = transcript.history(messages, next, total);
  const write = composer({
    key: id,
    project: slug,
    send: ({ prompt, model }) => post(`${route}/messages`, { prompt, ...(model && { model }) }),
  });
  const stop = button("Stop", {
    icon: "stop",
    onclick: (event) => attempt(event, () => post(`${route}/stop`)),
  });
  const queue = h("ol", { class: "queue" });
  const held = h("div");
  write.actions.append(stop);
  fill(dock, held, queue, write.node);

  const draw = () => {
    stop.hidden = !state.running;
    drawQueue(queue, held, transcript);
    const ahead = (state.running ? 1 : 0) + state.queued;
    write.label(ahead ? "Queue" : "Send");
    write.placeholder(
      ahead ? `Write a message. ${plural(ahead, "turn")} will run before it.` : "Write a message.",
    );
    if (state.chat) drawFacts(document.getElementById("side"), state.chat);
  };
  const reload = async () => {
    const { chat, queue: rows } = await get(route);
    Object.assign(state, { chat, rows });
    document.getElementById("here").textContent = chat.name;
    document.title = `${chat.name} · Workspace`;
    menu(chat, reload);
    draw();
  };
  const line = (data) => {
    transcript.line(data);
    if (data.type === "turn") reload().catch(() => {}); // the connection bar says it
  };
  const handlers = {
    line,
    delta: (data) => transcript.delta(data),
    state: (data) => {
      Object.assign(state, data);
      transcript.running(data.turn);
      draw();
    },
    queue: (data) => {
      state.rows = data.queue;
      draw();
    },
    resync: () => transcript.clear(),
  };
  await reload();
  follow(`${route}/events?after=${from}`, handlers);
  key("a", "Allow what is asked", () => document.querySelector(".ask .primary")?.click());
  key("d", "Deny what is asked", () => document.querySelector(".ask .danger")?.click());
  key("w", "Write a message", (event) => {
    event.preventDefault();
    write.focus();
  });
}

function drawQueue(queue, held, transcript) {
  const waiting = state.rows.filter((row) => row.state === "queued" || row.state === "held");
  queue.hidden = waiting.length === 0;
  queue.setAttribute("aria-label", `Queue, ${plural(waiting.length, "message")}`);
  fill(
    queue,
    waiting.map((row, n) =>
      h(
        "li",
        {},
        h("span", { class: "place" }, String(n + 1)),
        h("span", { class: "cut", title: row.prompt }, row.prompt),
        h(
          "span",
          { class: "tiny quiet push phone-hide nowrap" },
          [row.state === "held" ? "held" : n === 0 ? "next" : "", senderWords(row.sender)]
            .filter(Boolean)
            .join(" · "),
        ),
        button("", {
          icon: "x",
          kind: "ghost s only",
          "aria-label": `Take message ${n + 1} out of the queue`,
          onclick: (event) => attempt(event, () => remove(`${route}/queue/${row.id}`)),
        }),
      ),
    ),
  );
  const count = waiting.filter((row) => row.state === "held").length;
  fill(
    held,
    count > 0 &&
      h(
        "div",
        { class: "banner warn held" },
        icon("pause"),
        h(
          "div",
          {},
          `${plural(count, "message")} held: ${transcript.whyHeld()}. A new message also lets them go on.`,
        ),
        button("Resume queue", {
          onclick: (event) => attempt(event, () => post(`${route}/queue/resume`)),
        }),
      ),
  );
}

const list = chatList(document.getElementById("chats"), slug, id);
if (id)
  openChat().catch((error) =>
    fill(
      document.getElementById("lines"),
      h("div", { class: "banner bad", role: "alert" }, icon("alert"), h("div", {}, error.message)),
    ),
  );
else newChat();
onChange(list.refresh);
