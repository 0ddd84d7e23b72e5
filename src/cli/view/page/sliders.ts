import { el, fill } from "./dom.ts";
import type { Labels } from "./labels.ts";
import { at, cutOf, type Shown, type ShownLevel } from "./shown.ts";
import { labelText } from "./words.ts";

/** Length of a dimension up to which all labels are requested at once. */
const TOGETHER = 1000;

/** A slider for each dimension that is not drawn. */
export class Sliders {
  readonly root = el("div", { class: "sliders" });
  readonly #labels: Labels;
  readonly #onChange: () => void;

  constructor(labels: Labels, onChange: () => void) {
    this.#labels = labels;
    this.#onChange = onChange;
  }

  /** @param index the position along each dimension; the sliders change it */
  show(shown: Shown, level: ShownLevel, index: number[], dimensions: readonly number[]): void {
    const rows = dimensions.map((d) => {
      const name = shown.names[d] ?? "";
      const length = level.shape[d] ?? 1;
      const output = el("output", {});
      const slider = el("input", {
        type: "range",
        min: 0,
        max: length - 1,
        value: index[d] ?? 0,
        "aria-label": name,
        oninput: () => {
          index[d] = slider.valueAsNumber;
          tell();
          this.#onChange();
        },
      });
      const tell = async () => {
        const i = index[d] ?? 0;
        fill(output, `${i} of ${length}`);
        const isShort = length <= TOGETHER;
        const named = await this.#labels.of(level, d, isShort ? cutOf(length, 0, 1, length) : at(i));
        if (i !== index[d]) return;
        const label = labelText(named.labels[isShort ? i : 0]);
        slider.setAttribute("aria-valuetext", named.areCoordinates ? label : `${i}`);
        fill(
          output,
          named.areCoordinates && el("b", {}, label),
          `${named.areCoordinates ? " · " : ""}${i} of ${length}`,
        );
      };
      tell();
      return el("div", { class: "slider" }, el("span", { class: "name" }, name), slider, output);
    });
    fill(this.root, ...rows);
  }
}
