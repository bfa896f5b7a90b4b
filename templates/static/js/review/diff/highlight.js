// The highlighter of diffs, a worker.
//
// {open, path, oldPath, old, fresh} registers a file; {ask, of, lines} requests lines (old ones as
// negative numbers) and is answered {ask, tokens: [[start, end, kind, …], …]}; {forget: true} drops
// all files.

import { languageOf } from "../../kit/text/languages.js";
import { tokensOf } from "../../kit/text/tokens.js";

const KEPT = 40; // files whose tokens are remembered
const files = new Map();

onmessage = ({ data }) => {
  if (data.forget) files.clear();
  else if (data.open) remember(data);
  else postMessage({ ask: data.ask, tokens: answer(data) });
};

function remember({ open, path, oldPath, old, fresh }) {
  files.set(open, { path, oldPath: oldPath ?? path, old, fresh });
  if (files.size > KEPT) delete files.get([...files.keys()].at(-KEPT - 1)).sides;
}

function answer({ of, lines }) {
  const file = files.get(of);
  if (!file) return [];
  file.sides ??= {
    old: tokensOf(file.old, languageOf(file.oldPath)),
    fresh: tokensOf(file.fresh, languageOf(file.path)),
  };
  const { old, fresh } = file.sides;
  return lines.map((line) => (line < 0 ? old[-line - 1] : fresh[line - 1]) ?? []);
}
