// Modals: the top view of the stack.

import { h, icon, keyed } from "./dom.js";
import { block } from "./blocks.js";
import { draftsOf, forget, settle } from "./elements.js";
import { act, app } from "./store.js";
import { toast } from "./toast.js";

let shown = null;

export function drawModal(dialog) {
  const view = app.state.modal;
  if (!view) {
    if (shown) forget(shown.id);
    shown = null;
    if (dialog.open) dialog.close();
    return;
  }
  if (shown?.id !== view.id) build(dialog, view);
  update(dialog, view);
  if (!dialog.open) dialog.showModal();
  const first = shown.body.querySelector("input, select, textarea");
  if (first && !shown.entered) {
    shown.entered = true;
    first.focus();
  }
}

function build(dialog, view) {
  const title = h("h2", { id: "modal-title" });
  const body = h("div", { class: "body" });
  const send = h("button", { type: "submit", class: "button primary" });
  const leave = h("button", { type: "button", class: "button", onclick: close });
  const form = h("form", { method: "dialog", novalidate: true, onsubmit: submit },
    h("header", {}, h("span", { class: "avatar bot", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i")), title,
      h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: close }, icon("close"))),
    body,
    h("footer", {}, leave, send));
  dialog.replaceChildren(form);
  dialog.setAttribute("aria-labelledby", "modal-title");
  dialog.oncancel = (event) => {
    event.preventDefault();
    close();
  };
  dialog.onkeydown = (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.requestSubmit();
  };
  shown = { id: view.id, title, body, send, leave, busy: false, entered: false };
}

function update(dialog, view) {
  const { title, body, send, leave } = shown;
  title.textContent = view.title?.text ?? "";
  leave.textContent = view.close?.text ?? (view.depth > 1 ? "Back" : "Close");
  send.hidden = !view.submit;
  if (!shown.busy) send.textContent = view.submit?.text ?? "";
  const place = { at: { view: view.id }, values: view.values, errors: view.errors };
  keyed(body, view.blocks.map((b) => ({
    key: b.block_id,
    signature: JSON.stringify([b, view.errors[b.block_id]]),
    make: () => block(b, place),
  })));
  body.querySelector("[aria-invalid]:not(:focus)")?.scrollIntoView({ block: "nearest" });
}

async function submit(event) {
  event.preventDefault();
  if (shown.busy) return;
  const { id, send } = shown;
  shown.busy = true;
  send.disabled = true;
  send.textContent = "Sending…";
  settle(id);
  try {
    await act("submit", { view: id, values: draftsOf(id) });
  } catch (error) {
    toast(`That didn't work: ${error.message}`);
  } finally {
    if (shown) {
      shown.busy = false;
      shown.send.disabled = false;
      shown.send.textContent = app.state.modal?.submit?.text ?? "";
    }
  }
}

async function close() {
  if (shown) forget(shown.id);
  await act("close");
}
