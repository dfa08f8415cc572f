// The middle: a channel or the Home tab.

import { h, icon, keyed } from "./dom.js";
import { block } from "./blocks.js";
import { composer } from "./composer.js";
import { following, item } from "./messages.js";
import { app, channelNow, person, read } from "./store.js";
import { firstVisit, tellMadeUp, tour, welcome } from "./tour.js";

let parts = null;

export function drawChat(root) {
  parts ??= build(root);
  const home = app.channel === "home";
  const channel = channelNow();
  header(home ? null : channel);
  const closed = !home && channel.im && app.stage.messages_read_only;
  parts.box.hidden = home || closed;
  parts.closed.hidden = !closed;
  if (home) drawHome();
  else drawChannel(channel);
  tellMadeUp(parts.list);
  tour(parts.tour, Boolean(parts.list.querySelector(".welcome")));
}

function build(root) {
  const title = h("h1");
  const topic = h("p", { class: "muted topic" });
  const open = (name) => () => document.body.classList.toggle(name);
  const top = h("header", { class: "top" },
    h("button", { type: "button", class: "fold", "aria-label": "People and channels", onclick: open("rail-open") }, icon("menu")),
    h("div", { class: "grow" }, title, topic),
    h("button", { type: "button", class: "fold", "aria-label": "Cluster and repository", onclick: open("side-open") }, icon("chart")));
  const list = h("div", { class: "messages", role: "log", "aria-live": "polite", tabindex: "0", "aria-label": "Messages" });
  const suggestions = h("div", { class: "tour" });
  const box = h("div", { class: "composer", id: "composer" });
  const closed = h("p", { class: "closed muted", hidden: true }, "Sending messages to this app has been turned off.");
  root.append(top, list, suggestions, box, closed);
  composer(box, () => ({ channel: channelNow().id, name: nameOf(channelNow()) }));
  return { title, topic, list, tour: suggestions, box, closed, shown: "" };
}

export function nameOf(channel) {
  return channel.im ? "Gpubot" : `#${channel.name}`;
}

function header(channel) {
  parts.title.textContent = channel ? nameOf(channel) : "Gpubot Home";
  parts.topic.textContent = channel?.topic ?? (channel ? "Direct messages with the app" : `As ${person(app.me).real_name} sees it`);
}

function drawChannel(channel) {
  const replies = new Map();
  for (const m of channel.messages) {
    if (m.thread_ts) replies.set(m.thread_ts, [...(replies.get(m.thread_ts) ?? []), m]);
  }
  const roots = channel.messages.filter((m) => !m.thread_ts || m.broadcast);
  const key = `${app.me}/${channel.id}`;
  if (parts.shown !== key) parts.list.replaceChildren();
  parts.shown = key;
  following(parts.list, () => {
    if (roots.length) keyed(parts.list, roots.map((m) => item(m, replies.get(m.ts) ?? [])));
    else if (!parts.list.querySelector(".welcome") || !firstVisit()) parts.list.replaceChildren(empty(channel));
  });
  read(channel);
}

function empty(channel) {
  if (firstVisit() && !channel.im) return welcome();
  const text = channel.im
    ? "Gpubot writes to you here, for example when a job that you wait for starts."
    : `This is the beginning of ${nameOf(channel)}. Type / below to see what Gpubot can do.`;
  return h("p", { class: "empty muted" }, text);
}

function drawHome() {
  const { home } = app.state;
  if (parts.shown !== "home") {
    parts.list.replaceChildren();
    parts.list.scrollTop = 0;
  }
  parts.shown = "home";
  if (!home) {
    parts.list.replaceChildren(h("p", { class: "empty muted" }, "Nothing here yet. Gpubot fills this tab when you open it."));
    return;
  }
  const place = { at: { view: home.id }, values: home.values };
  keyed(parts.list, home.blocks.map((b) => ({
    key: b.block_id,
    signature: JSON.stringify([app.me, b, home.values[b.block_id]]),
    make: () => block(b, place),
  })));
}
