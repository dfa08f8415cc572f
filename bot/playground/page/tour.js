// Three suggested clicks for a first visit.

import { h } from "./dom.js";
import { act, app, become, changed, goTo, save } from "./store.js";
import { toast } from "./toast.js";

const STEPS = [
  { id: "ask", label: "Ask what research may use", about: "The answer comes from the cluster beside this, by Kueue's own arithmetic.", go: () => asAna("C0RESEARCH", "/gpu-quota research") },
  { id: "more", label: "Ask for 8 more", about: "A form shows what would change before you send it; then it is a pull request.", go: () => asAna("C0RESEARCH", "/gpu-request research h100 nominal 40") },
  { id: "approve", label: "Be the approver", about: "Approve as Li, and watch it being merged and go live.", go: beApprover },
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

/** Draw the suggestions as a line of small buttons above the message box. */
export function tour(root, welcomed) {
  const done = STEPS.every((s) => app.toured[s.id]);
  root.hidden = welcomed || done || app.toured.closed || app.channel === "home";
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

export const firstVisit = () => Object.keys(app.toured).length === 0;

/** What is real here; nothing before the first look at the world behind the chat. */
function madeUp() {
  if (!("picture" in app.world)) return "";
  if (app.world.speed === undefined) return "Slack is made up and runs on your machine; the cluster is a real one.";
  return "Slack, the cluster and the Git repository beside it are made up and run on your machine.";
}

/** Say what is real, once that is known. */
export function tellMadeUp(root) {
  root.querySelector(".made-up")?.replaceChildren(madeUp());
}

/** What a first visitor sees in place of messages. */
export function welcome() {
  return h("section", { class: "welcome" },
    h("h2", {}, "Gpubot, at work on a small GPU platform"),
    h("p", {}, "The bot is the real one. ", h("span", { class: "made-up" }, madeUp()), " You can be any of its people."),
    h("ol", {}, STEPS.map((step, index) =>
      h("li", {}, h("button", { type: "button", onclick: () => take(step) },
        h("span", { class: "number", "aria-hidden": "true" }, String(index + 1)),
        h("span", {}, h("b", {}, step.label), h("span", { class: "muted" }, step.about)))))),
    h("p", { class: "muted" }, "Or type / below to see every command."));
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
  changed();
}
