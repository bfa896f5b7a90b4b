// Pause all triggers, of a project or of the instance, with Undo.

import { P, post } from "../kit/api.js";
import { attempt, toast } from "../kit/toast.js";

const SWITCHES = new Set(["project", "instance"]);

/** Whether a switch pauses the triggers, which a press turns back; other causes are elsewhere. */
export const isBySwitch = (paused) => SWITCHES.has(paused?.by);

/** Pause or resume; `slug` "" is every project. `after()` is awaited afterwards and after Undo. */
export const pause = (event, { slug = "", on, after }) =>
  attempt(event, async () => {
    const set = async (paused) => {
      await post(slug ? P(slug, "pause") : "/api/pause", { paused });
      await after();
    };
    await set(on);
    const whose = slug ? "The triggers of this project" : "All triggers";
    const said = on ? `${whose} are paused. Nothing fires by itself.` : `${whose} may fire again.`;
    const undo = () => attempt(null, () => set(!on));
    toast(said, { action: "Undo", act: undo, about: `pause ${slug}` });
  });
