// URLs of the routes and pages of this part: below data-base, "" on its own port, else its mount.

const { base } = document.body.dataset;
const encodedPath = (parts) => parts.map(encodeURIComponent).join("/");

/** route("projects", p, "repos", r, "commits", sha) → the URL of a route of the JSON API. */
export const route = (...parts) => `${base}/api/${encodedPath(parts)}`;

/** The URL of a page: pageOf() the list, pageOf(project), pageOf(project, repo, sha). */
export const pageOf = (project, ...commit) =>
  project === undefined ? `${base}/` : `${base}/p/${encodedPath([project, ...commit])}`;

/** The URL of a commit in the API, or of a route below it: commitOf(p, r, sha, "pr"). */
export const commitOf = (project, repo, sha, ...below) =>
  route("projects", project, "repos", repo, "commits", sha, ...below);
