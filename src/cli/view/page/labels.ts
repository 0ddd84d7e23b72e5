import type { DimensionLabels } from "../../../flows/view/read-labels.ts";
import { getJson } from "./requests.ts";
import { type Cut, cutText, type Shown, type ShownLevel } from "./shown.ts";
import type { Label } from "./words.ts";

/** The labels of items along a dimension. */
export interface Named {
  readonly labels: readonly Label[];
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
