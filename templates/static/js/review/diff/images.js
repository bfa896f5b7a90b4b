// A changed image: before and after side by side, with a swipe, or as an onion skin. An added or
// deleted image is shown alone.

import { fill, h, visible } from "../../kit/dom.js";
import { diffRoute } from "../state.js";
import { look, setLook } from "./look.js";

const NAME = /\.(png|jpe?g|gif|webp|svg|avif|ico|bmp)$/i;
const WAYS = { side: "Side by side", swipe: "Swipe", onion: "Onion skin" };
const SAID = { swipe: "Where the new image begins", onion: "How much of the new image shows" };
const HIGH = 560; // px of the taller image at most
const LEAST = 160; // px of the wider image at least: icons are enlarged for comparison

/** Whether the file is shown as an image. */
export const isImage = ({ path, old_oid: old, new_oid: fresh, binary }) =>
  NAME.test(path) && (binary || old !== fresh);

/** The images before and after, whichever exist. */
export function images({ path, old_oid: old, new_oid: fresh }) {
  const stage = h("div", { class: "compared" });
  const one = (words, side) => figure(path, words, side, () => measure(stage));
  fill(stage, old && one("Before", "LEFT"), fresh && one("After", "RIGHT"));
  return h("div", { class: "images" }, old && fresh && comparison(stage, path), stage);
}

function figure(path, words, side, loaded) {
  const size = h("span", {});
  const img = h("img", {
    src: diffRoute("image", { path, side }),
    alt: `${path}, ${words.toLowerCase()}`,
    draggable: "false",
    loading: "lazy",
  });
  img.addEventListener("load", () => {
    const { naturalWidth: wide, naturalHeight: high } = img;
    size.textContent = wide ? ` · ${wide} × ${high}` : "";
    loaded();
  });
  img.addEventListener("error", () => {
    const why = "Not an image that can be shown here, or larger than 5 MB.";
    img.replaceWith(h("p", { class: "note" }, why));
  });
  const caption = h("figcaption", { class: "tiny quiet" }, words, size);
  return h("figure", { class: `image ${side.toLowerCase()}` }, img, caption);
}

/** Give both images one scale, so that they match when one lies over the other. */
function measure(stage) {
  const shown = [...stage.querySelectorAll("img")];
  const wide = Math.max(...shown.map(({ naturalWidth }) => naturalWidth), 1);
  const high = Math.max(...shown.map(({ naturalHeight }) => naturalHeight), 1);
  for (const img of shown) img.style.setProperty("--share", (img.naturalWidth || wide) / wide);
  stage.classList.toggle("enlarged", wide < LEAST);
  const fits = Math.min(1, HIGH / high);
  stage.style.setProperty("--wide", `${Math.round(Math.max(wide * fits, LEAST))}px`);
}

/** The choice of the way to compare, with a slider for two of the three. */
function comparison(stage, path) {
  const far = h("input", { type: "range", class: "far", min: "0", max: "100", value: "50" });
  const applySlider = () => stage.style.setProperty("--far", Number(far.value) / 100);
  far.addEventListener("input", applySlider);
  applySlider();
  const choices = Object.entries(WAYS).map(([way, label]) =>
    h("button", { type: "button", dataset: { way }, onclick: () => (keep(way), show(way)) }, label),
  );
  const keep = (way) => setLook({ images: way });
  const show = (way) => {
    stage.dataset.way = way;
    far.hidden = way === "side";
    far.setAttribute("aria-label", visible(`${SAID[way] ?? ""}: ${path}`));
    for (const choice of choices)
      choice.setAttribute("aria-pressed", String(choice.dataset.way === way));
  };
  drag(stage, far);
  show(look.images in WAYS ? look.images : "side");
  const group = h("span", { class: "seg", role: "group", "aria-label": "Compare" }, choices);
  return h("div", { class: "line wrap" }, group, far);
}

/** Let a drag over the images move the slider. */
function drag(stage, far) {
  const move = ({ clientX, buttons }) => {
    if (!buttons || far.hidden) return;
    const { left, width } = stage.getBoundingClientRect();
    far.value = Math.round(((clientX - left) / width) * 100);
    far.dispatchEvent(new Event("input"));
  };
  stage.addEventListener("pointerdown", (event) => {
    if (far.hidden || event.button) return;
    stage.setPointerCapture(event.pointerId);
    move(event);
  });
  stage.addEventListener("pointermove", move);
}
