// Drafts about a commit, found again when the commit has a new sha after an amend or a rebase.

import { get } from "../kit/api.js";
import { begunOn, draft, draftOf, draftsUnder, keepDraft } from "../kit/drafts.js";
import { route } from "./route.js";
import { onOther, state } from "./state.js";

/** The identity of the commit shown, for the name of a draft. */
export function whose() {
  const { project, repo, sha, commit } = state;
  const { subject, authored, author } = commit ?? {};
  return { project, repo, sha, subject, authored, author: author?.name };
}

/** The identity of the commit in a draft's name of this `kind`; null if the name has none. */
export function parseIdentity(name, kind) {
  try {
    return JSON.parse(name.slice(kind.length));
  } catch {
    return null;
  }
}

let listed = null;
onOther(() => (listed = null));

/** Whether the commit shown is the one in `meta`, or a later version of it. */
export async function isHere(meta, review = state.review) {
  const { project, repo, sha, commit } = state;
  if (meta.project !== project || meta.repo !== repo) return false;
  if (meta.sha === sha) return true;
  const before = [review?.matched_from, ...(review?.carried_from?.also ?? [])];
  if (before.includes(meta.sha)) return true;
  listed ??= get(route("projects", project)).then(
    ({ repos }) => new Set(repos.flatMap(({ commits }) => commits.map(({ sha }) => sha))),
  );
  const gone = !(await listed).has(meta.sha);
  const written = meta.authored === commit?.authored && meta.author === commit?.author?.name;
  return gone && (meta.subject === commit?.subject || (Boolean(meta.authored) && written));
}

/**
 * The draft of a field about the whole commit, as from draft(). `found()` is called if the text of
 * an earlier version of the commit is filled in later.
 * @type {(field: any, kind: string, was?: string, found?: () => void) => ReturnType<typeof draft>}
 */
export function draftAbout(field, kind, was, found = () => {}) {
  const name = `${kind} ${JSON.stringify(whose())}`;
  const made = draft(field, name, was);
  if (!made.restored) follow(field, `${kind} `, name, made).then((came) => came && found());
  return made;
}

async function follow(field, kind, name, made) {
  const { life } = state;
  const shown = field.value;
  for (const old of draftsUnder(`${kind}{`)) {
    const meta = parseIdentity(old, kind);
    const here = meta && old !== name && (await isHere(meta).catch(() => false));
    if (life.aborted || field.value !== shown) return false;
    if (!here) continue;
    made.was = begunOn(old) ?? made.was;
    field.value = draftOf(old);
    keepDraft(name, field.value, made.was);
    keepDraft(old, "");
    return true;
  }
  return false;
}
