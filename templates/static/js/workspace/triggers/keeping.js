// What was typed into a trigger and not saved: a draft like any other, of the whole form.

import { draft, draftOf } from "../../kit/drafts.js";

/** kept("demo", "nightly") → {form, keep(form), forget()}; `form` is null when there is none. */
export function kept(project, name) {
  const key = `trigger.${project}.${name}`;
  const store = document.createElement("textarea");
  const form = parse(draftOf(key));
  const saved = draft(store, key);
  return {
    form,
    keep(fresh) {
      store.value = JSON.stringify(fresh);
      store.dispatchEvent(new Event("input"));
    },
    forget: () => saved.clear(),
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
