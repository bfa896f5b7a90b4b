// What was typed into a trigger and not saved: a draft like any other, of the whole form.

import { draft, draftOf, offerLeft, saveDrafts } from "../../kit/drafts.js";

const nameOf = (project, trigger) => `trigger.${project}.${trigger}`;

/** Whether something is kept that was typed into the form of this trigger. */
export const isKept = (project, trigger) => parse(draftOf(nameOf(project, trigger))) !== null;

/**
 * kept("demo", "nightly") → {form, was, keep(form, was), forget(), offer(place, take)}; `form` is
 * null when there is none, `was` the form as it stood when it was begun. What closed windows left is
 * offered behind `place`: `take(form, was)` shows it and returns what it replaced.
 */
export function kept(project, trigger) {
  const name = nameOf(project, trigger);
  saveDrafts(); // of the form that this one takes the place of
  const store = document.createElement("textarea");
  const form = parse(draftOf(name));
  const saved = draft(store, name);
  return {
    form,
    was: saved.was,
    keep(fresh, was) {
      saved.was = was;
      store.value = JSON.stringify(fresh);
      store.dispatchEvent(new Event("input"));
    },
    forget: () => saved.clear(),
    offer: (place, take) =>
      offerLeft(
        place,
        name,
        (text, was) => take(parse(text), was),
        (text) => words(parse(text)),
      ),
  };
}

function parse(text) {
  try {
    const form = JSON.parse(text);
    return form?.trigger && form.run ? form : null;
  } catch {
    return null;
  }
}

const words = ({ name, trigger, run }) =>
  [name, trigger.cron ?? trigger.interval ?? trigger.on, run.prompt || run.promptFile]
    .filter(Boolean)
    .join(", ");
