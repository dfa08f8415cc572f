// mrkdwn to elements: Slack's own little markup, with its three escapes.

import { h } from "./dom.js";
import { slackDate } from "./dates.js";
import { app, goTo, person } from "./store.js";
import { showPull } from "./pull.js";

const emoji = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", eyes: "👀", tada: "🎉", hourglass: "⌛",
  hourglass_flowing_sand: "⏳", rocket: "🚀", wave: "👋", bulb: "💡", information_source: "ℹ️",
  no_entry: "⛔", lock: "🔒", mag: "🔍", bell: "🔔", thinking_face: "🤔", "+1": "👍", "-1": "👎",
};

export function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Render mrkdwn as block-level elements: lines, quotes and fenced code. */
export function mrkdwn(text) {
  return text.split(/\n?```\n?([\s\S]*?)\n?```\n?/).flatMap((part, index) => {
    if (index % 2) return h("pre", { class: "code" }, unescape(part));
    return part ? paragraphs(part) : [];
  });
}

function paragraphs(text) {
  const result = [];
  let quote = null;
  for (const [index, line] of text.split("\n").entries()) {
    const quoted = line.match(/^(?:&gt;|>) ?(.*)$/);
    if (quoted) {
      if (!quote) result.push((quote = h("blockquote")));
      else quote.append(h("br"));
      quote.append(...inline(quoted[1]));
      continue;
    }
    if (index && !quote) result.push(h("br"));
    quote = null;
    result.push(...inline(line));
  }
  return result;
}

const pattern = new RegExp(
  [
    "<([^<>]+)>",
    "`([^`\\n]+)`",
    "(?<![\\w*])\\*(?! )([^*\\n]+?)(?<! )\\*(?![\\w*])",
    "(?<![\\w_])_(?! )([^_\\n]+?)(?<! )_(?![\\w_])",
    "(?<![\\w~])~(?! )([^~\\n]+?)(?<! )~(?![\\w~])",
    ":([a-z0-9_+-]+):",
  ].join("|"),
  "g",
);

export function inline(text) {
  const result = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) result.push(unescape(text.slice(end, match.index)));
    end = match.index + match[0].length;
    const [whole, angle, code, bold, italic, strike, face] = match;
    if (angle) result.push(angled(angle));
    else if (code) result.push(h("code", {}, unescape(code)));
    else if (bold) result.push(h("b", {}, inline(bold)));
    else if (italic) result.push(h("i", {}, inline(italic)));
    else if (strike) result.push(h("s", {}, inline(strike)));
    else result.push(emoji[face] ?? whole);
  }
  if (end < text.length) result.push(unescape(text.slice(end)));
  return result;
}

function angled(content) {
  const [target, label] = content.split("|");
  if (target.startsWith("@")) return mention(target.slice(1));
  if (target.startsWith("#")) return channelLink(target.slice(1), label);
  if (target.startsWith("!subteam^")) return groupMention(target.split("^")[1]);
  if (target.startsWith("!date^")) return dateWords(target, label ?? "");
  if (target.startsWith("!")) return h("span", { class: "mention me" }, `@${target.slice(1)}`);
  return link(unescape(target), label ? inline(label) : [unescape(target)]);
}

function dateWords(target, fallback) {
  const [, seconds, format, url] = target.split("^");
  const words = h("time", { title: fallback }, slackDate(Number(seconds), format, fallback));
  return url ? link(url, [words]) : words;
}

export function mention(id) {
  const me = id === app.me ? " me" : "";
  return h("span", { class: `mention${me}`, title: person(id).role }, `@${person(id).real_name}`);
}

export function groupMention(id) {
  return h("span", { class: "mention" }, `@${app.stage.groups[id] ?? id}`);
}

export function channelLink(id, label) {
  const name = app.state.channels.find((c) => c.id === id)?.name ?? label ?? id;
  return h("button", { class: "link", type: "button", onclick: () => goTo(id) }, `#${name}`);
}

/** A link; one into the playground itself stays in the page. */
export function link(url, children) {
  const address = parse(url);
  if (!address) return h("span", {}, children);
  if (address.host !== location.host) {
    return h("a", { href: address.href, target: "_blank", rel: "noopener noreferrer" }, children);
  }
  return h("button", { class: "link", type: "button", onclick: () => follow(address.pathname) }, children);
}

function parse(url) {
  try {
    const address = new URL(url);
    return /^(https?|mailto):$/.test(address.protocol) ? address : null;
  } catch {
    return null;
  }
}

/** Go to what a path of the playground names: a pull request or a message. */
export function follow(path) {
  const pull = path.match(/^\/pulls\/(\d+)/);
  const message = path.match(/^\/archives\/(\w+)\/p(\d+)(\d{6})$/);
  if (pull) showPull(Number(pull[1]));
  else if (message) goTo(message[1], rootOf(message[1], `${message[2]}.${message[3]}`));
}

function rootOf(channel, ts) {
  const messages = app.state?.channels.find((c) => c.id === channel)?.messages ?? [];
  const message = messages.find((m) => m.ts === ts);
  return message?.thread_ts || (messages.some((m) => m.thread_ts === ts) ? ts : null);
}
