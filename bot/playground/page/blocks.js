// Block Kit to elements, close to how Slack draws it.

import { h } from "./dom.js";
import { control } from "./elements.js";
import { markdown, richText, table } from "./rich.js";
import { mrkdwn } from "./words.js";

/** Words of a text object. */
export function words(object) {
  return object.type === "mrkdwn" ? mrkdwn(object.text) : [object.text];
}

/** Render one block; `place` says where its elements are: `{at, values, errors}`. */
export function block(b, place) {
  const draw = kinds[b.type];
  const element = draw ? draw(b, place) : h("p", { class: "muted" }, `A ${b.type} block`);
  element.classList.add("block");
  return element;
}

const kinds = {
  section: (b, place) =>
    h("div", { class: "section" },
      h("div", { class: "grow" },
        b.text && h("div", { class: "words" }, words(b.text)),
        b.fields && h("div", { class: "fields" }, b.fields.map((f) => h("div", { class: "words" }, words(f))))),
      b.accessory && accessory(b, place)),
  header: (b) => h("h3", { class: "header" }, b.text.text),
  divider: () => h("hr"),
  context: (b) => h("div", { class: "context" }, b.elements.map((e) =>
    e.type === "image" ? picture(e, "tiny") : h("span", { class: "words" }, words(e)))),
  actions: (b, place) => h("div", { class: "actions" }, b.elements.map((e) => control(b, e, place))),
  image: (b) => h("figure", {}, b.title && h("figcaption", {}, b.title.text), picture(b, "full")),
  input: (b, place) => input(b, place),
  rich_text: richText,
  table,
  markdown: (b) => markdown(b.text),
};

function accessory(b, place) {
  return b.accessory.type === "image" ? picture(b.accessory, "side") : control(b, b.accessory, place);
}

function picture(e, size) {
  const own = e.slack_file?.id ? `/files/${e.slack_file.id}` : e.image_url ?? e.slack_file?.url;
  // Images of other hosts are not loaded: the playground talks to nobody.
  if (!new URL(own, location.href).href.startsWith(location.origin)) return h("span", { class: "muted" }, `Image: ${e.alt_text}`);
  return h("img", { src: own, alt: e.alt_text, class: `picture ${size}`, loading: "lazy" });
}

function input(b, place) {
  const error = place.errors?.[b.block_id];
  const id = `field-${b.block_id}`;
  const group = ["radio_buttons", "checkboxes"].includes(b.element.type);
  const label = h(group ? "legend" : "label", group ? {} : { for: id }, b.label.text,
    b.optional && h("span", { class: "muted" }, " (optional)"));
  const field = control(b, b.element, place, { id, invalid: Boolean(error), describedby: `${id}-note` });
  const note = error ? h("p", { class: "error", role: "alert" }, error) : b.hint && h("p", { class: "hint" }, b.hint.text);
  return h(group ? "fieldset" : "div", { class: "input" },
    label, field, h("div", { id: `${id}-note` }, note || null));
}
