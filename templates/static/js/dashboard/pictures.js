// New pictures of apps, taken one after the other, with the progress and a button to stop.

import { post } from "../kit/api.js";
import { meter } from "../kit/bars.js";
import { button, fill, h } from "../kit/dom.js";
import { toast } from "../kit/toast.js";
import { plural } from "../kit/words.js";
import { route } from "./route.js";

export class Pictures {
  at = "";
  stopped = false;

  /** `changed()` is called when the next app's turn begins. */
  constructor(changed) {
    this.changed = changed;
    this.words = h("span", { class: "grow" });
    this.meter = h("span");
    const stop = button("Stop", { kind: "s", onclick: () => (this.stopped = true) });
    this.node = h("div", { class: "banner busy line", hidden: true }, this.words, this.meter, stop);
    this.node.setAttribute("role", "status");
  }

  /** Take pictures of the apps that answer; the others keep the ones they have. */
  async take(apps) {
    if (this.at) return void toast("Pictures are being taken already.");
    const ready = apps.filter(({ state }) => state === "up" || state === "degraded");
    if (!ready.length)
      return void toast("None of them answers: a picture needs an app that is up.");
    this.stopped = false;
    let taken = 0;
    try {
      for (const [n, { slug, name }] of ready.entries()) {
        if (this.stopped) break;
        this.show(slug, `Picture of ${name}, ${n + 1} of ${ready.length}`, n, ready.length);
        taken += (await post(route("thumbs", "refresh"), { slug })).taken;
      }
      const left = apps.length - taken;
      toast(`${plural(taken, "new picture")}${left ? `, ${left} kept what they had` : ""}.`);
    } catch (error) {
      toast(error.message, { bad: true });
    }
    this.show("", "", 0, 0);
  }

  show(slug, words, done, all) {
    this.at = slug;
    this.node.hidden = !slug || all < 2;
    this.words.textContent = words;
    fill(this.meter, all > 1 && meter(done, all, `${done} of ${all} done`));
    this.changed();
  }
}
