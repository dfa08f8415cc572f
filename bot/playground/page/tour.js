// Three suggested clicks for a first visit.

import { h } from "./dom.js";
import { act, app, become, goTo, save } from "./store.js";
import { toast } from "./toast.js";

const STEPS = [
  { id: "ask", label: "Ask what research may use", go: () => asAna("C0RESEARCH", "/gpu-quota research") },
  { id: "more", label: "Ask for 8 more", go: () => asAna("C0RESEARCH", "/gpu-request research h100 nominal 40") },
  { id: "approve", label: "Be the approver", go: beApprover },
];

async function asAna(channel, text) {
  if (app.me !== "U0ANA") await become("U0ANA");
  goTo(channel);
  await act("slash", { channel, text });
}

async function beApprover() {
  await become("U0LI");
  goTo("C0REQUESTS");
  const open = app.state.channels.find((c) => c.id === "C0REQUESTS").messages.some((m) => m.user === app.stage.bot && !m.only_you);
  if (!open) toast("You are Li now. There is no request to decide yet: ask for 8 more as Ana first.", "note");
}

export function tour(root) {
  const done = STEPS.every((s) => app.toured[s.id]);
  root.hidden = done || app.toured.closed || app.channel === "home";
  if (root.hidden) return;
  root.replaceChildren(
    h("span", { class: "muted" }, "Try:"),
    ...STEPS.map((step, index) => {
      const was = app.toured[step.id];
      return h("button", { type: "button", class: was ? "done" : "", onclick: () => take(step) },
        h("b", {}, was ? "✓" : String(index + 1)), ` ${step.label}`);
    }),
    h("button", { type: "button", class: "plain", "aria-label": "Hide the suggestions", onclick: () => finish("closed") }, "×"));
}

async function take(step) {
  finish(step.id);
  try {
    await step.go();
  } catch (error) {
    toast(`That didn't work: ${error.message}`);
  }
}

function finish(id) {
  app.toured[id] = true;
  save();
  tour(document.querySelector(".tour"));
}
