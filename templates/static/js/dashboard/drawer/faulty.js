// The lines of a YAML text to which the mistakes in a refusal or in a file's record belong.

const KEY = /^(\s*)(?:- )?(["']?)([^"':#]+)\2\s*:/;

/** Every mistake in a refused save, as {line, message}. */
export function faultsOf(error, text) {
  const { issues, line } = error.body ?? {};
  if (!issues?.length) return [{ line: line ?? null, message: error.message }];
  return issues.map(({ path, message }, n) => ({
    line: n === 0 && line ? line : lineOf(path, text),
    message: path && path !== "text" ? `${path}: ${message}` : message,
  }));
}

/** The line (from 1) of a path like "health.interval", or of its deepest key found; else null. */
export function lineOf(path, text) {
  const names = path.split(/[.[\]]+/).filter((name) => name && !/^\d+$/.test(name));
  const lines = text.split("\n");
  let found = null;
  let depth = -1;
  let at = 0;
  for (const name of names) {
    const next = lines.findIndex((line, n) => n >= at && hasKey(line, name, depth));
    if (next < 0) break;
    found = next + 1;
    depth = KEY.exec(lines[next])[1].length;
    at = next + 1;
  }
  return found;
}

function hasKey(line, name, depth) {
  const key = KEY.exec(line);
  return key !== null && key[3].trim() === name && (depth < 0 || key[1].length > depth);
}
