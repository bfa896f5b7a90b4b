// Unsaved text of a trigger: one draft of the whole form.

import { draft, draftOf, offerLeft, saveDrafts } from "../../kit/drafts.js";

const nameOf = (project, trigger) => `trigger.${project}.${trigger}`;

/** Whether there is a draft of this trigger's form. */
export const isKept = (project, trigger) => parse(draftOf(nameOf(project, trigger))) !== null;

/**
 * formDraft("demo", "nightly") → {form, was, keep(form, was), forget(), offer(place, take)}; `form` is
 * the draft or null, `was` the form as it was when the draft was begun. offer() shows the drafts of
 * closed windows after `place`: `take(form, was)` fills one in and returns what it replaced.
 */
export function formDraft(project, trigger) {
  const name = nameOf(project, trigger);
  saveDrafts(); // of the form that this one replaces
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
