// Slack's date tokens, in the time zone of the person who looks.

import { app, person } from "./store.js";

const zone = () => person(app.me).tz ?? "UTC";

function format(seconds, options) {
  const date = new Date(seconds * 1000);
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone(), ...options }).format(date);
}

const day = (seconds) => format(seconds, { year: "numeric", month: "2-digit", day: "2-digit" });

function pretty(seconds, otherwise) {
  const now = Date.now() / 1000;
  if (day(seconds) === day(now)) return "today";
  if (day(seconds) === day(now - 86400)) return "yesterday";
  if (day(seconds) === day(now + 86400)) return "tomorrow";
  return otherwise;
}

function ago(seconds, now = Date.now() / 1000) {
  const distance = now - seconds;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, s]) => Math.abs(distance) >= s) ?? ["second", 1];
  return new Intl.RelativeTimeFormat("en").format(-Math.trunc(distance / size), unit);
}

const tokens = {
  date_num: (s) => format(s, { year: "numeric", month: "2-digit", day: "2-digit" }),
  date: (s) => format(s, { year: "numeric", month: "long", day: "numeric" }),
  date_slash: (s) => format(s, { year: "numeric", month: "2-digit", day: "2-digit" }),
  date_short: (s) => format(s, { year: "numeric", month: "short", day: "numeric" }),
  date_long: (s) => format(s, { weekday: "long", year: "numeric", month: "long", day: "numeric" }),
  date_pretty: (s) => pretty(s, tokens.date(s)),
  date_short_pretty: (s) => pretty(s, tokens.date_short(s)),
  date_long_pretty: (s) => pretty(s, tokens.date_long(s)),
  time: (s) => format(s, { hour: "2-digit", minute: "2-digit" }),
  time_secs: (s) => format(s, { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
  ago: (s) => ago(s),
};

/** Fill Slack's format for a moment; an unknown token makes it the fallback. */
export function slackDate(seconds, pattern, fallback) {
  let known = true;
  const text = pattern.replace(/\{(\w+)\}/g, (_, name) => {
    if (!tokens[name]) known = false;
    return tokens[name]?.(seconds) ?? "";
  });
  return known ? text : fallback;
}

export const clock = (ts) => tokens.time(Number(ts));
export const moment = (iso) => tokens.time_secs(Date.parse(iso) / 1000);
export const longAgo = (iso, now) => ago(Date.parse(iso) / 1000, Date.parse(now) / 1000);
