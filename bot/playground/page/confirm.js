// The confirm dialog that buttons may ask for.

import { h } from "./dom.js";
import { mrkdwn } from "./words.js";

/** Ask, and return whether the person agreed. */
export function confirmed(object) {
  const dialog = document.getElementById("confirm");
  const text = object.text.type === "mrkdwn" ? mrkdwn(object.text.text) : object.text.text;
  return new Promise((decide) => {
    const end = (answer) => () => {
      dialog.close();
      decide(answer);
    };
    dialog.replaceChildren(
      h("header", {}, h("h2", { id: "confirm-title" }, object.title.text)),
      h("div", { class: "body" }, h("div", { class: "words" }, text)),
      h("footer", {},
        h("button", { type: "button", class: "button", onclick: end(false) }, object.deny?.text ?? "Cancel"),
        h("button", { type: "button", class: `button ${object.style ?? "primary"}`, "data-confirm": true, onclick: end(true) }, object.confirm.text)),
    );
    dialog.setAttribute("aria-labelledby", "confirm-title");
    dialog.oncancel = () => decide(false);
    dialog.showModal();
  });
}
