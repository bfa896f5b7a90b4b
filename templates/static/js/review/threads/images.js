// Images for a comment: pasted, dropped or picked, stored by the service, then linked in the text.

import { h } from "../../kit/dom.js";
import { keepImage } from "./review.js";

const MOST = 5 * 1024 * 1024; // bytes, the limit of the service
const TYPES = "image/png,image/jpeg,image/gif,image/webp,image/svg+xml";

const images = (list) => [...(list ?? [])].filter((file) => file.type.startsWith("image/"));

/**
 * Let `box` accept images. `say(text)` shows the progress ("" = none), `fail(text)` an error.
 * Returns pick(), which lets the user choose files.
 */
export function takesImages(box, { say, fail }) {
  const input = h("input", { type: "file", accept: TYPES, multiple: true });
  const take = async (files) => {
    for (const file of files) await insert(box, file, { say, fail });
  };
  input.addEventListener("change", async () => {
    box.focus();
    await take(input.files);
    input.value = "";
  });
  box.addEventListener("paste", (event) => {
    const files = images(event.clipboardData.files);
    if (!files.length) return;
    event.preventDefault();
    take(files);
  });
  box.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    box.classList.add("drop");
  });
  box.addEventListener("dragleave", () => box.classList.remove("drop"));
  box.addEventListener("drop", (event) => {
    box.classList.remove("drop");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  return () => input.click();
}

async function insert(box, file, { say, fail }) {
  if (file.size > MOST) {
    fail(`${file.name} was not added: an image is at most 5 MB. Make it smaller and try again.`);
    return;
  }
  say(`Adding ${file.name}…`);
  try {
    const text = await keepImage(file);
    const before = box.value.slice(0, box.selectionStart);
    const gap = before && !before.endsWith("\n") ? "\n" : "";
    box.setRangeText(`${gap}${text}\n`, box.selectionStart, box.selectionEnd, "end");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  } catch (error) {
    const reason =
      error instanceof TypeError ? "The service does not answer." : `${error.message}.`;
    fail(`${file.name} was not added: ${reason}`);
  } finally {
    say("");
  }
}
