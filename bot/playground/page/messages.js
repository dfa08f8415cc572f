// Messages, as a list in a channel or in a thread.

import { h, icon } from "./dom.js";
import { block } from "./blocks.js";
import { clock, slackDate } from "./dates.js";
import { act, app, goTo, person } from "./store.js";
import { mrkdwn } from "./words.js";

/** What `keyed` needs to know of a message; `thread` are its replies, shown as a summary. */
export function item(message, thread = null) {
  const replies = thread?.map((m) => m.ts) ?? null;
  const marks = [app.me, message, replies, app.thread === message.ts];
  return {
    key: message.ts,
    signature: JSON.stringify(marks),
    make: () => render(message, thread),
  };
}

function render(message, thread) {
  const author = person(message.user);
  const bot = message.user === app.stage.bot;
  const kinds = ["message", message.only_you && "only-you", app.thread === message.ts && "open"];
  const time = h("time", { class: "muted", title: slackDate(Number(message.ts), "{date_long} {time_secs}", "") }, clock(message.ts));
  return h("article", { class: kinds.filter(Boolean).join(" "), "data-ts": message.ts, "aria-label": `${author.real_name} at ${clock(message.ts)}` },
    avatar(message.user),
    h("div", { class: "grow" },
      message.only_you && onlyYou(message),
      h("p", { class: "byline" }, h("b", {}, author.real_name), bot && h("span", { class: "tag" }, "APP"), time),
      h("div", { class: "content" }, content(message)),
      message.edits > 0 && h("span", { class: "muted edited" }, "(edited)"),
      message.files.map(file),
      reactions(message),
      thread?.length ? summary(message, thread) : replyButton(message, thread)));
}

export function avatar(user) {
  const { real_name } = person(user);
  if (user === app.stage.bot) return h("span", { class: "avatar bot", "aria-hidden": "true" }, h("i"), h("i"), h("i"), h("i"));
  const initials = real_name.split(" ").map((w) => w[0]).join("").slice(0, 2);
  const tone = [...user].reduce((sum, c) => sum + c.charCodeAt(0), 0) % 6;
  return h("span", { class: `avatar tone-${tone}`, "aria-hidden": "true" }, initials);
}

function onlyYou(message) {
  const { channel, ts } = message;
  return h("p", { class: "only" }, icon("eye"), "Only visible to you",
    h("button", { type: "button", class: "link", onclick: () => act("dismiss", { channel, ts }) }, "Dismiss"));
}

function content(message) {
  const place = { at: { channel: message.channel, ts: message.ts }, values: message.values };
  if (!message.blocks.length) return h("div", { class: "words" }, mrkdwn(message.text));
  return message.blocks.map((b) => block(b, place));
}

function file(f) {
  if (/\.(png|jpe?g|gif)$/.test(f.name)) {
    return h("figure", {}, h("figcaption", {}, f.title), h("img", { class: "picture full", src: `/files/${f.id}`, alt: f.alt_txt || f.title }));
  }
  return h("p", {}, h("a", { href: `/files/${f.id}`, download: f.name }, f.title), h("span", { class: "muted" }, ` ${f.size} bytes`));
}

function reactions(message) {
  const names = Object.entries(message.reactions);
  return names.length ? h("p", { class: "reactions" }, names.map(([name, count]) => h("span", { class: "tag" }, mrkdwn(`:${name}:`), ` ${count}`))) : null;
}

function summary(message, thread) {
  const count = thread.length === 1 ? "1 reply" : `${thread.length} replies`;
  const last = thread.at(-1);
  return h("button", { type: "button", class: "replies", onclick: () => goTo(message.channel, message.ts) },
    h("b", {}, count), h("span", { class: "muted" }, `last ${clock(last.ts)}: `, h("span", { class: "last" }, firstLine(last.text))));
}

function replyButton(message, thread) {
  if (!thread || message.only_you) return null;
  const open = () => goTo(message.channel, message.ts);
  return h("button", { type: "button", class: "reply", onclick: open, title: "Reply in thread", "aria-label": "Reply in thread" }, icon("message"));
}

function firstLine(text) {
  const holder = h("div", {}, mrkdwn(text.split("\n")[0]));
  return holder.textContent;
}

/** Follow what is new at the end of a list while the person is there: its first line comes first. */
export function following(list, update) {
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const before = list.lastElementChild;
  update();
  const last = list.lastElementChild;
  if (!last || !(atEnd || !before || list.dataset.fresh)) return;
  delete list.dataset.fresh;
  const tall = last.offsetHeight > list.clientHeight;
  list.scrollTop = tall ? last.offsetTop - list.offsetTop - 6 : list.scrollHeight;
}
