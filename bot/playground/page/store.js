// What the page knows, what the visitor chose, and what survives a reload.

import { get, post } from "./api.js";

const saved = JSON.parse(localStorage.getItem("gpubot-playground") ?? "{}");

export const app = {
  stage: null,
  state: null,
  world: {},
  me: saved.me ?? "U0ANA",
  channel: location.hash.slice(1) || saved.channel || "C0RESEARCH",
  thread: null,
  seen: saved.seen ?? {},
  toured: saved.toured ?? {},
  online: true,
};

let redraw = () => {};

export function onChange(draw) {
  redraw = draw;
}

export function changed() {
  redraw();
}

export function save() {
  const { me, channel, seen, toured } = app;
  localStorage.setItem("gpubot-playground", JSON.stringify({ me, channel, seen, toured }));
}

let asked = 0;

/** Fetch what I see; an answer that was overtaken by a newer one is dropped. */
export async function refresh() {
  const turn = ++asked;
  const state = await get(`/play/state?user=${app.me}`);
  if (turn !== asked) return;
  app.state = state;
  changed();
}

export async function refreshWorld() {
  app.world = await get("/play/world");
  changed();
}

/** Do something as the person I am. */
export async function act(gesture, details = {}) {
  return post("/play/do", { gesture, user: app.me, ...details });
}

export async function become(user) {
  app.me = user;
  app.thread = null;
  save();
  await refresh();
}

export function goTo(channel, thread = null) {
  app.channel = channel;
  app.thread = thread;
  history.replaceState(null, "", `#${channel}`);
  if (channel === "home") act("home");
  save();
  changed();
}

export function person(id) {
  return app.stage.users[id] ?? { name: id, real_name: id, role: "" };
}

export function channelNow() {
  return app.state.channels.find((c) => c.id === app.channel) ?? app.state.channels[0];
}

/** Mark a channel as read by the person I am. */
export function read(channel) {
  const last = channel.messages.at(-1)?.ts;
  const key = `${app.me}/${channel.id}`;
  if (!last || app.seen[key] >= last) return;
  app.seen[key] = last;
  save();
}

export function unread(channel) {
  const since = app.seen[`${app.me}/${channel.id}`] ?? "";
  return channel.messages.filter((m) => m.ts > since && m.user !== app.me).length;
}

/** How many messages mention a person that they have not looked at. */
export function mentions(user) {
  const found = app.state.mentions[user] ?? [];
  return found.filter((m) => m.ts > (app.seen[`${user}/${m.channel}`] ?? "")).length;
}
