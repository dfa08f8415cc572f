// Start: fetch what never changes, draw, and draw again whenever something changed.

import { get, listen } from "./api.js";
import { drawChat } from "./chat.js";
import { drawCohort } from "./cohort.js";
import { h, icon } from "./dom.js";
import { drawGit } from "./git.js";
import { drawModal } from "./modal.js";
import { drawRail } from "./rail.js";
import { app, onChange, refresh, refreshWorld } from "./store.js";
import { drawThread } from "./thread.js";
import { toast } from "./toast.js";
import { follow } from "./words.js";

const at = (id) => document.getElementById(id);
const cohort = h("section", { class: "panel" });
const git = h("section", { class: "panel" });
let told = Date.now() / 1000;

function draw() {
  if (!app.state) return;
  drawChat(at("chat"));
  drawRail(at("rail"));
  drawThread(at("thread"));
  drawModal(at("modal"));
  drawCohort(cohort);
  drawGit(git);
  for (const error of app.state.errors) if (error.at > told) toast(error.words);
  told = Math.max(told, ...app.state.errors.map((e) => e.at));
}

async function start() {
  app.stage = await get("/play/stage");
  if (!app.stage.people.includes(app.me)) app.me = app.stage.people[0];
  const fold = () => document.body.classList.remove("side-open");
  at("side").append(h("button", { type: "button", class: "fold close", "aria-label": "Close", onclick: fold }, icon("close")), cohort, git);
  onChange(draw);
  const path = location.hash.slice(1);
  if (path.startsWith("/")) app.channel = "C0REQUESTS";
  await Promise.all([refresh(), refreshWorld()]);
  if (path.startsWith("/")) follow(path);
  listen(heard, (online) => {
    app.online = online;
    draw();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.body.classList.remove("rail-open", "side-open");
  });
}

function heard(topics) {
  if (topics.some((t) => t !== "world")) refresh();
  if (topics.includes("world")) refreshWorld();
}

start();
