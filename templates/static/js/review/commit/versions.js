// The comparison of two versions of a commit: the picker below the toolbar, and the changes since
// the reader's last look, which are shown first.

import { get } from "../../kit/api.js";
import { fill, h } from "../../kit/dom.js";
import { toast } from "../../kit/toast.js";
import { time } from "../../kit/words.js";
import { sayNothing } from "../diff/view.js";
import { diffRoute, at, onOther, state } from "../state.js";

const PARENT = "PARENT"; // the parent on which a version was made
const bar = document.getElementById("compared");
let known; // a promise of the API's record of versions
let said; // the content of the note, as text

/** Read the versions once, and show those that the URL names, by default since the last look. */
export async function chooseVersions() {
  if (known) return;
  const { life } = state;
  known = get(at("versions")).catch(() => ({ versions: [], since: null }));
  const { versions, since } = await known;
  if (life.aborted) return;
  const words = new URLSearchParams(location.search);
  const [from, to] = [words.get("since"), words.get("to")];
  const first = since?.changed && !words.has("whole") && !location.hash;
  if (from) state.compare = { from, to, base: words.has("base") };
  else if (first) state.compare = { from: since.sha, to: null, base: false };
  if (state.compare) sayNothing("No file differs between the two.");
  draw(versions, since);
}

onOther(() => {
  known = null;
  bar.hidden = true;
  fill(bar);
  fill(note);
  said = null;
});

/** Replace the files of the commit by those of the comparison. */
export async function showCompared(commit, contents) {
  const { life } = state;
  try {
    const found = await get(diffRoute("", { contents }).replace("/?", "?"));
    if (life.aborted) return;
    const own = new Set(commit.files.map(({ path }) => path));
    const older = Boolean(state.compare.to);
    for (const file of found.files) file.foreign = older || !own.has(file.path);
    commit.files = found.files;
    say(found);
  } catch (error) {
    if (life.aborted) return;
    state.compare = null;
    toast(`Shown whole: ${error.message}`, { bad: true });
    bar.hidden = true;
  }
}

// -- the picker ----------------------------------------------------------------------------------

const note = h("span", { class: "line wrap small soft" });

function draw(versions, since) {
  if (versions.length < 2) return;
  const current = versions.find((one) => one.current) ?? versions.at(-1);
  const { from = PARENT, to = null } = state.compare ?? {};
  const fullSha = (sha) => versions.find((one) => sha && one.sha.startsWith(sha))?.sha;
  const left = chooser(
    "Compare",
    [[PARENT, "Base"], ...versions.map(versionOption)],
    fullSha(from) ?? PARENT,
  );
  const right = chooser("with", versions.map(versionOption), fullSha(to) ?? current.sha);
  const go = () => {
    const whole = left.value === PARENT && right.value === current.sha;
    const query = new URLSearchParams(whole ? { whole: "" } : { since: left.value });
    if (right.value !== current.sha) query.set("to", right.value);
    leave(query);
  };
  left.addEventListener("change", go);
  right.addEventListener("change", go);
  bar.hidden = false;
  fill(bar, label("Compare", left), label("with", right), note);
  if (!state.compare) offer(since);
}

const label = (words, select) => h("label", { class: "line small soft" }, words, select);

const versionOption = ({ n, sha, short, current, here }) => [
  sha,
  `Version ${n} · ${short}${current ? " · current" : ""}${here ? "" : " · gone"}`,
  here,
];

function chooser(words, options, value) {
  const nodes = options.map(([sha, text, here = true]) =>
    h("option", { value: sha, disabled: !here, selected: sha === value }, text),
  );
  return h("select", { class: "input s", "aria-label": words }, nodes);
}

function leave(query) {
  location.assign(`${location.pathname}?${query}`);
}

const link = (words, query) =>
  h("a", { class: "link", href: `?${new URLSearchParams(query)}` }, words);

/** Offer the comparison with the last look while the whole commit is shown. */
function offer(since) {
  if (!since) return;
  const words = since.changed
    ? link("Since my last look", { since: since.sha })
    : `Same change as in version ${since.n}, your last look.`;
  fill(note, words);
}

/** Draw the note only if it changed: it is read again with each comment, and has links to click. */
function say({ from, to, rebased, message }) {
  const { compare } = state;
  known.then(({ since }) => {
    const words = JSON.stringify([from?.sha, to?.sha, rebased, message, compare, since?.sha]);
    if (words === said) return;
    said = words;
    const last = since && from?.sha === since.sha && !compare.to;
    fill(
      note,
      last && h("span", { class: "strong" }, "Since my last look"),
      from && from.committed && h("span", {}, "of ", time(from.committed)),
      rebased && h("span", {}, "Rebased: grey lines came with the new base"),
      rebased &&
        !compare.base &&
        link("Its other files", { since: from.sha, ...(compare.to && { to: to.sha }), base: "1" }),
      message && messageChange(message),
      link("Whole commit", { whole: "" }),
    );
  });
}

const messageChange = ({ old, new: fresh }) =>
  h(
    "details",
    { class: "message-since" },
    h("summary", { class: "link small" }, "The message changed"),
    h("p", { class: "quiet set" }, h("del", {}, old)),
    h("p", { class: "set" }, h("ins", {}, fresh)),
  );
