// Whether the service answers. Lost: every state shape turns hollow and a bar says so.

import { h, icon, mark } from "./dom.js";

const bars = document.getElementById("bars");
const live = document.getElementById("live");
const LIVE = { shape: "up", tone: "up", word: "Live: changes arrive by themselves" };
const LOST = { shape: "stopped", tone: "stopped", word: "Not connected" };

let state = "";
let bar = null;

export const connection = {
  up() {
    if (state === "up") return;
    state = "up";
    bar?.remove();
    bar = null;
    document.body.classList.remove("offline");
    show(LIVE);
  },
  lost() {
    if (state === "lost") return;
    state = "lost";
    document.body.classList.add("offline");
    bar = h(
      "div",
      { class: "bar warn" },
      icon("alert"),
      h("span", {}, "Connection lost. What you see may be old; this page reconnects by itself."),
    );
    bars.append(bar);
    show(LOST);
  },
};

function show(look) {
  live.title = look.word;
  live.replaceChildren(mark(look));
}
