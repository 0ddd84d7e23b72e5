import type { Cut, DimensionLabels } from "../../../flows/view/read-numbers.ts";
import { el, fill } from "./dom.ts";
import { getJson } from "./requests.ts";
import { at, cutOf, cutText, type Shown, type ShownLevel } from "./shown.ts";
import { type AxisLabel, labelText } from "./words.ts";

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

/** The labels of items along a dimension. */
export interface Named {
  readonly labels: readonly AxisLabel[];
  /** The dimension's name, with units. */
  readonly title: string;
  /** True if the labels are values of a coordinate, false if they are indices. */
  readonly areCoordinates: boolean;
}

/** The labels of dimensions, each requested only once. */
export class Labels {
  readonly #shown: Shown;
  readonly #known = new Map<string, Promise<DimensionLabels | null>>();

  constructor(shown: Shown) {
    this.#shown = shown;
  }

  async of(level: ShownLevel, d: number, cut: Cut): Promise<Named> {
    const name = this.#shown.names[d] ?? "";
    const indices = Array.from({ length: cut.count }, (_, i) => cut.start + i * cut.step);
    const scale = level.scale?.[d];
    const unit = this.#shown.axisUnits[d];
    if (scale !== undefined && unit !== undefined) {
      const from = level.translation?.[d] ?? 0;
      return {
        labels: indices.map((i) => Number((from + i * scale).toPrecision(10))),
        title: `${name} (${unit})`,
        areCoordinates: true,
      };
    }
    const found = this.#shown.areNamed && !this.#shown.channels ? await this.#ask(level, d, cut) : null;
    if (found === null) return { labels: indices, title: name, areCoordinates: false };
    return {
      labels: found.labels,
      title: found.units ? `${name} (${found.units})` : name,
      areCoordinates: true,
    };
  }

  #ask({ path }: ShownLevel, d: number, cut: Cut): Promise<DimensionLabels | null> {
    const query = { path, d, name: this.#shown.names[d] ?? "", cut: cutText([cut]) };
    const key = JSON.stringify(query);
    const asked = this.#known.get(key) ?? getJson<DimensionLabels | null>("labels", query).catch(() => null);
    this.#known.set(key, asked);
    return asked;
  }
}
