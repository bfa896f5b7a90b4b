// The fix that a sentence of the service suggests, as a button beside it. The sentences that are
// read here: tests/fixtures/trigger_fixes.json, which tests of both sides read.

const MEANT = /\(did you mean ([^)]+)\?\)/;
const UNKNOWN = /unknown tool "([^"]+)"/;

/** The fix {label, apply(inputs)} of an error, or null. */
export function fixOf({ field, reason, example }, inputs) {
  const [, meant] = MEANT.exec(reason) ?? [];
  const [, unknown] = UNKNOWN.exec(reason) ?? [];
  if (field === "run.tools" && meant && unknown)
    return { label: `Use ${meant}`, apply: () => inputs.swapTool(unknown, meant) };
  if (field === "trigger.timezone" && meant)
    return { label: `Use ${zoneOf(meant)}`, apply: () => (inputs.timezone.value = zoneOf(meant)) };
  const text = /^(?:\w+ )?"([^"]+)"$/.exec(example ?? "")?.[1];
  const input = { "trigger.cron": inputs.cron, "trigger.interval": inputs.interval }[field];
  if (text && input) return { label: `Use ${text}`, apply: () => (input.value = text) };
  return null;
}

const NAMED = /^run\.tools: no one attends .*, e\.g\. (\[[^\]]*\])/;

/** The fixes of a warning, each {label, apply(inputs)}; they fill the form, and Save stores it. */
export function waysOut(warning) {
  const [, listed] = NAMED.exec(warning) ?? [];
  if (!listed || warning.includes("; convert it")) return [];
  const names = JSON.parse(listed);
  const all = { label: "Everything unasked", apply: (inputs) => (inputs.mode.value = BYPASS) };
  const ask = { label: "Wait for a person", apply: (inputs) => (inputs.onAsk.value = "wait") };
  return [
    { label: `Name ${names.join(", ")}`, apply: (inputs) => inputs.grant(names) },
    ...(warning.includes(WAIT) ? [ask] : []),
    ...(warning.endsWith(BYPASS) ? [all] : []),
  ];
}

const BYPASS = "bypassPermissions";
const WAIT = "run.onAsk: wait";
const zoneOf = (meant) => meant.replaceAll('"', "");

/** The name among `names` nearest to `wanted`; null if none is near enough for a misspelling. */
export function nearest(wanted, names) {
  let best = null;
  let least = Math.max(2, Math.floor(wanted.length / 4)) + 1;
  for (const name of names) {
    const far = distance(wanted.toLowerCase(), name.toLowerCase());
    if (far < least) [best, least] = [name, far];
  }
  return best;
}

function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1)
      next[j] = Math.min(
        next[j - 1] + 1,
        row[j] + 1,
        row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[other.length];
}
