// The thread beside the channel.

import { h, icon, keyed } from "./dom.js";
import { composer } from "./composer.js";
import { following, item } from "./messages.js";
import { app, channelNow, goTo } from "./store.js";

let parts = null;

export function drawThread(root) {
  parts ??= build(root);
  const channel = channelNow();
  const first = app.thread && channel.messages.find((m) => m.ts === app.thread);
  root.hidden = !first;
  document.body.classList.toggle("thread-open", Boolean(first));
  if (!first) return;
  const replies = channel.messages.filter((m) => m.thread_ts === first.ts);
  if (parts.shown !== first.ts) parts.list.replaceChildren();
  parts.shown = first.ts;
  const line = h("p", { class: "count muted" }, replies.length === 1 ? "1 reply" : `${replies.length} replies`);
  const count = { key: "count", signature: String(replies.length), make: () => line };
  following(parts.list, () => keyed(parts.list, [item(first), count, ...replies.map((m) => item(m))]));
}

function build(root) {
  const list = h("div", { class: "messages", role: "log", "aria-live": "polite", tabindex: "0", "aria-label": "Thread" });
  const close = () => goTo(app.channel);
  const box = h("div", { class: "composer" });
  root.append(
    h("header", { class: "top" }, h("h2", { class: "grow" }, "Thread"),
      h("button", { type: "button", class: "plain", "aria-label": "Close thread", onclick: close }, icon("close"))),
    list, box);
  composer(box, () => ({ channel: channelNow().id, thread_ts: app.thread, name: "the thread" }));
  return { list, shown: "" };
}
