// A short message at the foot of the page; with an action it waits 8 s, the time to undo.

import { h } from "./dom.js";

const place = document.getElementById("toasts");

export function toast(text, { action, act, bad = false } = {}) {
  const node = h("div", { class: bad ? "toast bad" : "toast" }, h("span", {}, text));
  const timer = setTimeout(() => node.remove(), action ? 8000 : bad ? 10000 : 5000);
  const end = () => {
    clearTimeout(timer);
    node.remove();
  };
  const label = action ?? (bad ? "Close" : null);
  if (label) {
    const press = () => {
      end();
      if (action) act();
    };
    node.append(h("button", { type: "button", class: "btn s", onclick: press }, label));
  }
  place.replaceChildren(node);
}

export async function copy(text, said) {
  await navigator.clipboard.writeText(text);
  toast(said);
}

/** Run an action of a button: busy while it runs, a toast with the reason when it fails. */
export async function attempt(event, work) {
  const control = event?.currentTarget;
  control?.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (error) {
    toast(error.message, { bad: true });
    return undefined;
  } finally {
    control?.removeAttribute("aria-busy");
  }
}
