// A to-do list or plan that an agent keeps: one list per turn, updated in place.

import { fill, h, mark } from "../../kit/dom.js";
import { stateOf } from "../words.js";

const STATES = {
  completed: { ...stateOf("completed"), word: "Done" },
  in_progress: { ...stateOf("running"), word: "In progress" },
  pending: { ...stateOf("queued"), word: "To do" },
};
const MOST = 200;

/** The entries that a TodoWrite call wrote: [{content, status}]; null for any other call. */
export function todosOf({ name, ok, input }) {
  if (name !== "TodoWrite" || !ok || !Array.isArray(input?.todos)) return null;
  const fits = (one) => typeof one?.content === "string";
  return input.todos.filter(fits).map(({ content, status }) => ({ content, status }));
}

/** "2 of 5 done" */
export function progress(todos) {
  const done = todos.filter(({ status }) => status === "completed").length;
  return `${done} of ${todos.length} done`;
}

export function todoList(todos) {
  const more = todos.length - MOST;
  return h(
    "ul",
    { class: "todos" },
    todos.slice(0, MOST).map(({ content, status }) => {
      const look = STATES[status] ?? STATES.pending;
      return h(
        "li",
        { class: status },
        mark(look, false),
        h(
          "span",
          { class: "wrap-anywhere" },
          content,
          h("span", { class: "sr" }, `: ${look.word}`),
        ),
      );
    }),
    more > 0 && h("li", { class: "quiet" }, `and ${more} more`),
  );
}

/** The list of one turn, at the place of its first call. */
export class Todos {
  constructor() {
    this.node = h("section", { class: "plan", "aria-label": "To do" });
    this.places = [];
  }

  /** Show the entries that the next call wrote; a link to any of the calls leads here. */
  update(todos, offset) {
    this.list = todos;
    this.places.push(h("span", { dataset: { at: offset } }));
    fill(
      this.node,
      h(
        "header",
        {},
        h("b", {}, ...this.places, "To do"),
        h("span", { class: "tiny quiet push" }, todos.length ? progress(todos) : "empty"),
      ),
      todos.length > 0 && todoList(todos),
    );
  }
}
