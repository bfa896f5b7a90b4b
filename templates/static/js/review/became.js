// Text about a commit that was typed and not sent, found again once the commit has another sha:
// after an amend, or a rebase.

import { get } from "../kit/api.js";
import { begunOn, draft, draftOf, draftsUnder, keepDraft } from "../kit/drafts.js";
import { route } from "./route.js";
import { onOther, state } from "./state.js";

/** What tells the commit that is shown from others, for the name of a draft. */
export function whose() {
  const { project, repo, sha, commit } = state;
  const { subject, authored, author } = commit ?? {};
  return { project, repo, sha, subject, authored, author: author?.name };
}

/** What the rest of a draft's name tells of its commit; null for what is no such name. */
export function told(name, kind) {
  try {
    return JSON.parse(name.slice(kind.length));
  } catch {
    return null;
  }
}

let listed = null;
onOther(() => (listed = null));

/** Whether the commit shown is the one that was told, or has become of it. */
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
 * The draft of a field about the whole commit, as draft() makes it: with what was typed before.
 * `found()` once that came later.
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
    const meta = told(old, kind);
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
