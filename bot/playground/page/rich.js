// rich_text blocks, table cells and the markdown block.

import { h } from "./dom.js";
import { slackDate } from "./dates.js";
import { channelLink, groupMention, link, mention, inline } from "./words.js";

export function richText(block) {
  return h("div", { class: "rich" }, lists(block.elements));
}

// Slack sends nested lists flat, each with its indent.
function lists(elements) {
  return elements.map((element) => {
    const parts = element.elements;
    switch (element.type) {
      case "rich_text_list":
        return h(
          element.style === "ordered" ? "ol" : "ul",
          { class: `indent-${element.indent ?? 0}`, start: element.offset ? element.offset + 1 : undefined },
          parts.map((item) => h("li", {}, item.elements.map(part))),
        );
      case "rich_text_preformatted":
        return h("pre", { class: "code" }, codeLines(parts));
      case "rich_text_quote":
        return h("blockquote", {}, parts.map(part));
      default:
        return h("div", { class: "line" }, parts.map(part));
    }
  });
}

// A diff in a code block reads better with its lines marked, as words and not by colour alone.
function codeLines(parts) {
  const text = parts.map((p) => p.text ?? p.url).join("");
  if (!/^[+-](?![+-])/m.test(text)) return text;
  return diffLines(text.split("\n"));
}

export function diffLines(lines) {
  return lines.map((line) => h("span", { class: `diff ${kindOf(line)}` }, `${line}\n`));
}

function kindOf(line) {
  if (line.startsWith("+++") || line.startsWith("@@")) return "place";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}

function part(p) {
  const element = bare(p);
  const style = p.style ?? {};
  const wrap = [["bold", "b"], ["italic", "i"], ["strike", "s"], ["code", "code"], ["underline", "u"]];
  return wrap.reduce((inner, [name, tag]) => (style[name] ? h(tag, {}, inner) : inner), element);
}

function bare(p) {
  switch (p.type) {
    case "user": return mention(p.user_id);
    case "usergroup": return groupMention(p.usergroup_id);
    case "channel": return channelLink(p.channel_id);
    case "link": return link(p.url, [p.text || p.url]);
    case "emoji": return h("span", {}, inline(`:${p.name}:`));
    case "broadcast": return h("span", { class: "mention me" }, `@${p.range}`);
    case "date": {
      const words = slackDate(p.timestamp, p.format, p.fallback ?? "");
      return h("time", { title: p.fallback }, words);
    }
    default: return h("span", { class: "text" }, p.text ?? p.value ?? "");
  }
}

/** A table block; its first row is the header, as Slack draws it. */
export function table(block) {
  const [head, ...rows] = block.rows;
  const align = (column) => block.column_settings?.[column]?.align ?? "left";
  const wrapped = (column) => (block.column_settings?.[column]?.is_wrapped ? " wrapped" : "");
  const row = (cells, tag) =>
    h("tr", {}, cells.map((c, i) => h(tag, { class: `${align(i)}${wrapped(i)}`, scope: tag === "th" ? "col" : undefined }, cell(c))));
  const body = h("tbody", {}, rows.map((cells) => row(cells, "td")));
  return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
    h("table", {}, h("thead", {}, row(head, "th")), body));
}

function cell(c) {
  if (c.type === "rich_text") return lists(c.elements);
  return c.text ?? String(c.value);
}

/** The markdown block: headings, lists, bold, code and links are enough for ours. */
export function markdown(text) {
  return h("div", { class: "rich" }, text.split("\n").map((line) => {
    const heading = line.match(/^#{1,6} (.*)$/);
    const item = line.match(/^[-*] (.*)$/);
    if (heading) return h("h4", {}, span(heading[1]));
    if (item) return h("div", { class: "line" }, "• ", span(item[1]));
    return h("div", { class: "line" }, span(line));
  }));
}

function span(text) {
  return inline(text.replace(/\*\*(.+?)\*\*/g, "*$1*").replace(/\[([^\]]+)\]\(([^)]+)\)/g, "<$2|$1>"));
}
