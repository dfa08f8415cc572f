// A pull request of the local repository, in a dialog.

import { h, icon } from "./dom.js";
import { diffLines } from "./rich.js";
import { app } from "./store.js";
import { toast } from "./toast.js";

export function showPull(number) {
  const pull = app.world.git?.pulls.find((p) => p.number === number);
  if (!pull) {
    toast(`Pull request ${number} isn't in the local repository.`);
    return;
  }
  const dialog = document.getElementById("pull");
  dialog.replaceChildren(
    h("header", {}, h("h2", { id: "pull-title" }, `#${pull.number} ${pull.title} `, state(pull)),
      h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))),
    h("div", { class: "body" },
      h("p", { class: "muted" }, `${pull.branch} at ${pull.head.slice(0, 8)}`),
      h("pre", { class: "code wrap" }, pull.body),
      h("h3", {}, "Changes"), h("pre", { class: "code" }, diffLines(pull.diff)),
      pull.comments.length > 0 && h("h3", {}, "Comments"),
      pull.comments.map((c) => h("pre", { class: "code wrap" }, c.text))));
  dialog.setAttribute("aria-labelledby", "pull-title");
  dialog.showModal();
}

export function state(pull) {
  return h("span", { class: `tag ${pull.state}` }, pull.state);
}
