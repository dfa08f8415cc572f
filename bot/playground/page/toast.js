// Short notes at the edge: what Slack itself tells a person.

import { h } from "./dom.js";

const toasts = document.getElementById("toasts");

export function toast(text, kind = "error") {
  const note = h("p", { class: `toast ${kind}` }, text);
  // An open dialog covers everything that is not in it.
  (document.querySelector("dialog[open]") ?? document.body).append(toasts);
  toasts.append(note);
  setTimeout(() => note.remove(), 9000);
}
