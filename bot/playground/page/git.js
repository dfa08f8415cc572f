// The local repository: pull requests, and the newest commits with their diffs.

import { h, keyed } from "./dom.js";
import { longAgo } from "./dates.js";
import { showPull, state } from "./pull.js";
import { diffLines } from "./rich.js";
import { app } from "./store.js";

export function drawGit(root) {
  const { git } = app.world;
  if (!git) {
    root.replaceChildren();
    return;
  }
  const head = { key: "head", signature: git.branch, make: () => h("header", { class: "panel-head" }, h("h2", {}, "GitOps repository"), h("span", { class: "tag" }, git.branch)) };
  const pulls = git.pulls.map((p) => ({ key: `pull-${p.number}`, signature: JSON.stringify([p.title, p.state]), make: () => pull(p) }));
  const commits = git.commits.map((c, index) => {
    const applied = c.sha === app.world.synced;
    return { key: c.sha, signature: `${index < 2} ${applied}`, make: () => commit(c, index < 2, applied) };
  });
  keyed(root, [head, ...pulls, ...commits]);
}

function pull(p) {
  return h("p", { class: "pull" }, state(p), " ",
    h("button", { type: "button", class: "link", onclick: () => showPull(p.number) }, `#${p.number} ${p.title}`));
}

function commit(c, open, applied) {
  const about = c.first ? "the seed" : longAgo(c.at, app.world.picture?.as_of || new Date().toISOString());
  return h("details", { class: "commit", open: open && !c.first },
    h("summary", {}, h("span", { class: "sha" }, c.sha.slice(0, 7)), " ", c.subject, h("span", { class: "muted" }, ` ${c.author}, ${about} `),
      applied && h("span", { class: "tag open", title: "The cluster runs this commit" }, "in the cluster")),
    c.diff.length > 0 && h("pre", { class: "code" }, diffLines(dedented(c.diff))));
}

// The panel is narrow: what all lines of a hunk are indented by is left out.
function dedented(lines) {
  const inHunk = (line) => /^[ +-]/.test(line) && !line.startsWith("+++");
  const depth = (line) => line.slice(1).search(/\S/);
  const least = Math.min(...lines.filter((l) => inHunk(l) && depth(l) >= 0).map(depth));
  return lines.map((line) => (inHunk(line) ? line[0] + line.slice(1 + least) : line));
}
