// Where a route of this part is: relative to <base href>, so the same on its port and its mount.

export const route = (...parts) => ["api", ...parts.map(encodeURIComponent)].join("/");
