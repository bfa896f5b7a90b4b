// One word, one shape and one tone per state; senders and origins in words.

const STATES = {
  asks: { shape: "asks", tone: "degraded", word: "Asks: needs you" },
  running: { shape: "starting", tone: "starting", word: "Running" },
  waiting: { shape: "queued", tone: "degraded", word: "Waits" },
  queued: { shape: "queued", tone: "stopped", word: "Waiting" },
  held: { shape: "paused", tone: "degraded", word: "Held" },
  completed: { shape: "done", tone: "up", word: "Completed" },
  failed: { shape: "down", tone: "down", word: "Failed" },
  cancelled: { shape: "skipped", tone: "stopped", word: "Cancelled" },
  stopped: { shape: "stopped", tone: "stopped", word: "Stopped" },
  interrupted: { shape: "degraded", tone: "degraded", word: "Interrupted" },
  skipped: { shape: "skipped", tone: "stopped", word: "Skipped" },
  disabled: { shape: "stopped", tone: "stopped", word: "Off" },
  armed: { shape: "queued", tone: "starting", word: "Armed" },
  reserved: { shape: "unknown", tone: "stopped", word: "Reserved" },
  invalid: { shape: "down", tone: "down", word: "Not valid" },
  quiet: { shape: "quiet", tone: "quiet", word: "Idle" },
  archived: { shape: "skipped", tone: "quiet", word: "Archived" },
  paused: { shape: "paused", tone: "stopped", word: "Paused" },
};

export const stateOf = (name) => STATES[name] ?? { ...STATES.reserved, word: name };

/** "asks: Bash npm test" for a chat that needs the user, else "". */
export const askWords = ({ asked }) =>
  asked ? ["asks:", asked.tool, asked.summary].filter(Boolean).join(" ") : "";

export function chatState(chat) {
  if (chat.asked) return STATES.asks;
  if (chat.waiting) return STATES.waiting;
  if (chat.running) return STATES.running;
  if (chat.held) return STATES.held;
  if (chat.queued) return STATES.queued;
  if (chat.lastTurn?.status === "failed") return STATES.failed;
  if (chat.lastTurn?.status === "interrupted") return STATES.interrupted;
  return chat.archived ? STATES.archived : STATES.quiet;
}

export function triggerState(trigger) {
  const runtime = trigger.runtime ?? {};
  if (trigger.trigger.type === "webhook") return STATES.reserved;
  if (runtime.running) return STATES.running;
  if (runtime.queued) return STATES.queued;
  if (!trigger.enabled) return STATES.disabled;
  if (runtime.lastRun?.status === "failed") return { ...STATES.failed, word: "Last run failed" };
  return STATES.armed;
}

/** "you", "client ci over /mcp", "trigger nightly-check" */
export function senderWords(sender) {
  switch (sender?.kind) {
    case "user":
      return sender.id && sender.id !== "anonymous" ? sender.id : "You";
    case "client":
      return `client ${sender.id} over /mcp`;
    case "chat":
      return `chat ${sender.name || sender.sessionId}`;
    case "trigger":
      return `trigger ${sender.name} (${sender.cause})`;
    default:
      return "the service";
  }
}

export function originWords(chat) {
  if (chat.trigger) return `trigger ${chat.trigger.name ?? chat.trigger}`;
  if (chat.client) return `client ${chat.client}`;
  return (
    { human: "you", scheduled: "a schedule", hook: "an event", spawned: "another chat" }[
      chat.provenance?.origin
    ] ?? ""
  );
}

/** Whether this error of a project says that its file waits for the user's confirmation. */
export const isUnconfirmed = (error) => Boolean(error?.startsWith("cannot be followed"));
