// The picture of the cluster: per queue own, borrowed, lent, free and waiting.

import { h, keyed } from "./dom.js";
import { moment } from "./dates.js";
import { post } from "./api.js";
import { act, app, channelNow } from "./store.js";

const SPEEDS = [[0, "Pause"], [1, "1×"], [10, "10×"], [60, "60×"]];
const MOST_WAITING = 24;
const LEGEND = [["own", "own"], ["borrowed", "borrowed"], ["free", "own, unused"], ["lent", "own, lent out now"], ["waiting", "waiting"]];

export function drawCohort(root) {
  const { picture } = app.world;
  if (!picture) {
    root.replaceChildren(h("p", { class: "muted" }, "The cluster is starting…"));
    return;
  }
  root.querySelector(".starting")?.remove();
  const panels = picture.panels.map((p) => ({
    key: `${p.cohort}/${p.flavor}`,
    signature: JSON.stringify(p),
    make: () => panel(p),
  }));
  const head = { key: "head", signature: JSON.stringify([app.world.speed, picture.cluster]), make: () => header(picture) };
  const foot = { key: "foot", signature: JSON.stringify([app.me, picture.as_of, picture.gaps]), make: () => footer(picture) };
  const { events } = app.world;
  const news = { key: "news", signature: JSON.stringify(events ?? null), make: () => happenings(events) };
  keyed(root, [head, ...panels, foot, ...(events?.length ? [news] : [])]);
}

function header(picture) {
  return h("header", { class: "panel-head" }, h("h2", { class: "grow" }, `Cluster ${picture.cluster}`), speeds());
}

function happenings(events) {
  return h("section", { class: "news", "aria-label": "What happened in the cluster" },
    h("ul", {}, events.map((e) => h("li", {}, h("time", { class: "muted" }, moment(e.at)), ` ${e.text}`))));
}

function speeds() {
  const { speed } = app.world;
  if (speed === undefined) return h("span", { class: "tag" }, "live");
  return h("div", { class: "speeds", role: "group", "aria-label": "Speed of simulated time" }, SPEEDS.map(([value, label]) =>
    h("button", { type: "button", "aria-pressed": String(speed === value), "data-focus": `speed-${value}`, onclick: () => post("/play/speed", { speed: value }) }, label)));
}

function panel(p) {
  const free = p.quota - p.reserved;
  const widest = Math.max(...p.queues.map((q) => Math.max(q.nominal, q.reserved) + Math.min(q.waiting, MOST_WAITING)), 1);
  const quiet = p.queues.every((q) => !q.reserved && !q.waiting);
  return h("details", { class: "cohort", open: !quiet },
    h("summary", {}, h("h3", {}, `${p.cohort} · ${p.flavor}`), h("span", { class: "muted" }, ` ${p.reserved} of ${p.quota} reserved, ${Math.max(free, 0)} free`)),
    p.queues.map((q) => queue(q, widest)));
}

function queue(q, widest) {
  const unused = Math.max(0, q.nominal - q.own - q.lent);
  const segments = [
    ["own", q.own], ["free", unused], ["lent", q.lent], ["borrowed", q.borrowed], ["waiting", Math.min(q.waiting, MOST_WAITING)],
  ].filter(([, n]) => n > 0);
  const words = sentence(q);
  const bar = h("div", { class: "bar", role: "img", "aria-label": `${q.name}: ${words}` }, segments.map(([kind, n]) => {
    const part = h("span", { class: kind, title: `${n} ${kind}` }, n / widest > 0.07 ? String(kind === "waiting" ? q.waiting : n) : "");
    part.style.width = `${(100 * n) / widest}%`;
    return part;
  }));
  const mark = h("span", { class: "nominal", title: `nominal quota ${q.nominal}` });
  mark.style.left = `${(100 * q.nominal) / widest}%`;
  bar.append(mark);
  const ask = () => act("slash", { channel: channelNow().id, text: `/gpu-quota ${q.name}` });
  return h("div", { class: "queue" },
    h("p", {}, h("button", { type: "button", class: "link", title: `Ask Gpubot: /gpu-quota ${q.name}`, "data-focus": `queue-${q.name}`, onclick: ask }, q.name),
      h("span", { class: "muted" }, ` ${q.reserved} reserved, quota ${q.nominal}`)),
    bar, h("p", { class: "muted small" }, words));
}

function sentence(q) {
  const parts = [`${q.own} own`];
  if (q.borrowed) parts.push(`${q.borrowed} borrowed`);
  if (q.lent) parts.push(`${q.lent} lent`);
  parts.push(`${q.can_start} can start`);
  if (q.waiting_jobs) parts.push(`${q.waiting_jobs} ${q.waiting_jobs === 1 ? "job waits" : "jobs wait"} for ${q.waiting}`);
  return parts.join(" · ");
}

function asOf(picture) {
  if (!picture.as_of) return "";
  if (app.world.speed === 0) return `Time stands still at ${moment(picture.as_of)}; merges and jobs wait too. `;
  const simulated = app.world.speed === undefined ? "" : ", simulated time";
  return `As of ${moment(picture.as_of)}${simulated}. `;
}

function footer(picture) {
  return h("footer", {},
    h("ul", { class: "legend" }, LEGEND.map(([kind, label]) => h("li", {}, h("i", { class: kind }), label))),
    picture.gaps.map((gap) => h("p", { class: "error" }, gap)),
    h("p", { class: "muted small" }, `${asOf(picture)}Kueue doesn't record whose GPUs a borrower holds.`));
}
