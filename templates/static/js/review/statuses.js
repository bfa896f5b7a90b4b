// The status of a commit as shape, tone and word.

const STATUSES = {
  draft: { shape: "draft", tone: "draft", word: "Draft" },
  ready: { shape: "ready", tone: "ready", word: "Ready" },
  published: { shape: "published", tone: "published", word: "Published" },
  merged: { shape: "merged", tone: "merged", word: "Merged" },
};

export const statusOf = (status) =>
  STATUSES[status] ?? { shape: "unknown", tone: "", word: status };
