// Interactive elements: buttons, menus, pickers and fields.

import { upload } from "./api.js";
import { h } from "./dom.js";
import { act, app, person } from "./store.js";
import { confirmed } from "./confirm.js";
import { follow, mrkdwn } from "./words.js";
import { toast } from "./toast.js";

const DEBOUNCE = 250;
const typed = ["plain_text_input", "number_input", "email_text_input", "url_text_input"];

/** Values typed here that the server may not have yet, by view, block and action. */
export const drafts = new Map();

export function draftsOf(view) {
  return [...drafts.entries()]
    .map(([key, value]) => [JSON.parse(key), value])
    .filter(([[v]]) => v === view)
    .map(([[, block_id, action_id], value]) => ({ block_id, action_id, value }));
}

/** Drop what was still to be told of a view's fields, because a submission tells all of it. */
export function settle(view) {
  for (const [key, timer] of timers) if (JSON.parse(key)[0] === view) clearTimeout(timer);
}

/** Forget a view's values. */
export function forget(view) {
  settle(view);
  for (const key of [...drafts.keys()]) if (JSON.parse(key)[0] === view) drafts.delete(key);
}

/** Render an element of a block; `field` has id and state for inputs. */
export function control(block, element, place, field = {}) {
  const use = new Use(block, element, place);
  if (element.type === "button") return button(element, use);
  if (element.type === "overflow") return overflow(element, use);
  const made = draw(element)(element, use, field);
  if (field.invalid) made.setAttribute("aria-invalid", "true");
  if (field.describedby) made.setAttribute("aria-describedby", field.describedby);
  return made;
}

function draw(element) {
  if (element.type === "file_input") return files;
  return typed.includes(element.type) ? text : choice;
}

/** One element in its place: its value, and what using it sends. */
class Use {
  constructor(block, element, place) {
    Object.assign(this, { block, element, place });
    this.key = JSON.stringify([place.at.view ?? place.at.ts, block.block_id, element.action_id]);
  }

  get value() {
    if (drafts.has(this.key)) return drafts.get(this.key);
    return this.place.values?.[this.block.block_id]?.[this.element.action_id] ?? null;
  }

  async send(gesture, details) {
    const { block_id } = this.block;
    try {
      await act(gesture, { ...this.place.at, block_id, action_id: this.element.action_id, ...details });
    } catch (error) {
      // The bot may have replaced the view while somebody still typed into it.
      if (gesture !== "fill") toast(`That didn't work: ${error.message}`);
    }
  }

  async choose(value) {
    if (this.block.type === "input") {
      drafts.set(this.key, value);
      return this.send("fill", { value });
    }
    if (this.element.confirm && !(await confirmed(this.element.confirm))) return undefined;
    return this.send("use", { value });
  }

  type(value, how) {
    drafts.set(this.key, value);
    clearTimeout(timers.get(this.key));
    const wait = how === "on_enter_pressed" ? 0 : DEBOUNCE;
    timers.set(this.key, setTimeout(() => this.send("fill", { value, how }), wait));
  }
}

const timers = new Map();

function button(element, use) {
  const press = async () => {
    if (element.confirm && !(await confirmed(element.confirm))) return;
    if (element.url) visit(element.url);
    made.disabled = true;
    made.classList.add("busy");
    await use.send("use", {});
    made.disabled = false;
    made.classList.remove("busy");
  };
  const made = h("button", {
    type: "button",
    class: `button ${element.style ?? ""}`,
    "aria-label": element.accessibility_label,
    "data-action": element.action_id,
    "data-focus": use.key,
    onclick: press,
  }, element.text.text);
  return made;
}

function visit(url) {
  const address = new URL(url, location.href);
  if (address.host === location.host) follow(address.pathname);
  else if (/^https?:$/.test(address.protocol)) window.open(address.href, "_blank", "noopener,noreferrer");
}

function overflow(element, use) {
  const options = element.options.map((o) => h("option", { value: o.value }, o.text.text));
  const pick = (event) => {
    use.choose(event.target.value);
    event.target.value = "";
  };
  return h("select", { class: "overflow", "aria-label": "More actions", onchange: pick },
    h("option", { value: "", selected: true }, "···"), options);
}

function text(element, use, field) {
  const many = element.type === "plain_text_input" && element.multiline;
  const made = h(many ? "textarea" : "input", {
    id: field.id,
    type: many ? undefined : "text",
    inputmode: element.type === "number_input" ? (element.is_decimal_allowed ? "decimal" : "numeric") : undefined,
    rows: many ? 3 : undefined,
    maxlength: element.max_length,
    placeholder: element.placeholder?.text,
    autocomplete: "off",
    "data-action": element.action_id,
    "data-focus": use.key,
    value: use.value ?? "",
    autofocus: element.focus_on_load,
    oninput: () => use.type(made.value, "on_character_entered"),
    onkeydown: (event) => {
      if (event.key !== "Enter" || many) return;
      event.preventDefault();
      use.type(made.value, "on_enter_pressed");
    },
  });
  return made;
}

function files(element, use, field) {
  const take = async () => {
    try {
      const given = await Promise.all([...made.files].map((file) => upload(app.me, file)));
      await use.choose(given.length ? given.map((file) => file.id) : null);
    } catch (error) {
      made.value = "";
      toast(`That didn't work: ${error.message}`);
    }
  };
  const made = h("input", {
    id: field.id,
    type: "file",
    accept: element.filetypes?.map((kind) => `.${kind}`).join(","),
    multiple: (element.max_files ?? 10) > 1,
    "data-action": element.action_id,
    "data-focus": use.key,
    onchange: take,
  });
  return made;
}

function choice(element, use, field) {
  if (element.type === "radio_buttons" || element.type === "checkboxes") return boxes(element, use);
  const kind = pickers[element.type];
  if (kind) return picker(element, use, field, kind);
  if (element.type.endsWith("external_select")) return external(element, use, field);
  return menu(element, use, field);
}

const pickers = { datepicker: "date", timepicker: "time", datetimepicker: "datetime-local" };

function picker(element, use, field, type) {
  const seconds = type === "datetime-local";
  const shown = seconds && use.value ? new Date(use.value * 1000).toISOString().slice(0, 16) : use.value;
  const made = h("input", {
    id: field.id,
    type,
    "data-action": element.action_id,
    "data-focus": use.key,
    "aria-label": field.id ? undefined : element.placeholder?.text ?? type,
    value: shown ?? "",
    onchange: () => use.choose(seconds ? String(Date.parse(`${made.value}Z`) / 1000) : made.value || null),
  });
  return made;
}

function menu(element, use, field) {
  const many = element.type.startsWith("multi_");
  const chosen = new Set([use.value ?? []].flat());
  const option = ([value, label]) => h("option", { value, selected: chosen.has(value) }, label);
  const groups = element.option_groups?.map((g) =>
    h("optgroup", { label: g.label.text }, g.options.map((o) => option([o.value, o.text.text]))));
  const none = !many && h("option", { value: "", selected: chosen.size === 0 }, element.placeholder?.text ?? "Choose");
  const made = h("select", {
    id: field.id,
    multiple: many,
    "data-action": element.action_id,
    "data-focus": use.key,
    "aria-label": field.id ? undefined : element.placeholder?.text ?? "Choose",
    onchange: () => {
      const values = [...made.selectedOptions].map((o) => o.value).filter(Boolean);
      use.choose(many ? values : values[0] ?? null);
    },
  }, none, groups ?? options(element).map(option));
  return made;
}

function options(element) {
  if (element.options) return element.options.map((o) => [o.value, o.text.text]);
  if (element.type.includes("users")) return Object.keys(app.stage.users).map((id) => [id, person(id).real_name]);
  return app.state.channels.filter((c) => !c.im).map((c) => [c.id, `#${c.name}`]);
}

function boxes(element, use) {
  const many = element.type === "checkboxes";
  const chosen = new Set([use.value ?? []].flat());
  const name = use.key;
  const pick = (event) => {
    if (!many) return use.choose(event.target.value);
    chosen[event.target.checked ? "add" : "delete"](event.target.value);
    return use.choose([...chosen]);
  };
  return h("div", { class: "boxes" }, element.options.map((o) =>
    h("label", {},
      h("input", {
        type: many ? "checkbox" : "radio",
        name,
        value: o.value,
        checked: chosen.has(o.value),
        "data-action": element.action_id,
        "data-focus": `${use.key}/${o.value}`,
        onchange: pick,
      }),
      h("span", {}, o.text.type === "mrkdwn" ? mrkdwn(o.text.text) : o.text.text,
        o.description && h("span", { class: "muted" }, ` ${o.description.text}`)))));
}

function external(element, use, field) {
  const list = h("datalist", { id: `${use.key}-options` });
  const found = new Map();
  const ask = async () => {
    const { block_id } = use.block;
    const place = { ...use.place.at, block_id, action_id: element.action_id };
    const answer = await act("suggest", { ...place, query: made.value });
    const offered = answer.options ?? (answer.option_groups ?? []).flatMap((g) => g.options);
    for (const o of offered) found.set(o.text.text, o.value);
    list.replaceChildren(...offered.map((o) => h("option", { value: o.text.text })));
  };
  const made = h("input", {
    id: field.id,
    list: list.id,
    "data-focus": use.key,
    placeholder: element.placeholder?.text,
    value: use.value ?? "",
    oninput: () => (found.has(made.value) ? use.choose(found.get(made.value)) : ask()),
    onfocus: ask,
  });
  return h("span", {}, made, list);
}
