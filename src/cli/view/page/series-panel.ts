import { AskFirst } from "./ask-first.ts";
import { Chart } from "./chart.ts";
import { el, fill, labelled, select } from "./dom.ts";
import type { Labels } from "./labels.ts";
import { getValues, Latest } from "./requests.ts";
import { at, type Cut, cutOf, cutText, type Shown, type ShownLevel } from "./shown.ts";
import { labelText, ordinal } from "./words.ts";

const MAX_POINTS = 1000;

/** A series of items along a dimension, at one point of all others. */
export class SeriesPanel {
  readonly root = el("section", { class: "card", "aria-label": "Series" });
  readonly #shown: Shown;
  readonly #labels: Labels;
  readonly #onShown: (level: ShownLevel, cuts: readonly Cut[], along: number) => void;
  readonly #chart = new Chart();
  readonly #ask = new AskFirst();
  readonly #latest = new Latest();
  readonly #where = el("p", { class: "soft" }, "Click a point of the picture, or press Enter at its cursor.");
  #along: number;
  #point: readonly [level: ShownLevel, index: readonly number[]] | undefined;

  constructor(
    { shown, labels, along }: { readonly shown: Shown; readonly labels: Labels; readonly along: number },
    onShown: (level: ShownLevel, cuts: readonly Cut[], along: number) => void,
  ) {
    this.#shown = shown;
    this.#labels = labels;
    this.#along = along;
    this.#onShown = onShown;
    const choices = shown.names.flatMap((name, d) => (d === shown.channel ? [] : [[`${d}`, name] as const]));
    const choice = select(choices, `${along}`, (d) => {
      this.#along = Number(d);
      if (this.#point) this.show(...this.#point);
    });
    this.#chart.root.hidden = true;
    fill(
      this.root,
      el("div", { class: "head" }, el("h3", {}, "Series"), choices.length > 1 && labelled("along", choice)),
      this.#where,
      this.#chart.root,
      this.#ask.root,
    );
  }

  show(level: ShownLevel, index: readonly number[]): void {
    this.#point = [level, index];
    const d = this.#along;
    const along = cutOf(level.shape[d] ?? 1, 0, 1, MAX_POINTS);
    const cuts = index.map((i, other) => (other === d ? along : at(i)));
    if (!this.#ask.mayRead(level, [cuts], () => this.show(level, index))) return;
    this.#latest.run(
      async (signal) => {
        this.#ask.say("reading …");
        const [{ data }, named] = await Promise.all([
          getValues(level.path, cutText(cuts), signal),
          this.#labels.of(level, d, along),
        ]);
        const words = await Promise.all(index.map((i, other) => this.#pointText(level, other, i)));
        signal.throwIfAborted();
        this.#chart.root.hidden = false;
        fill(this.#where, words.filter((_, other) => other !== d).join(", "));
        const { title, labels } = named;
        this.#chart.draw({ values: data, labels, name: title, units: this.#shown.units });
        this.#ask.say(along.step > 1 ? `every ${ordinal(along.step)} item` : "");
        this.#onShown(level, cuts, d);
      },
      (error) => this.#ask.fail(error),
    );
  }

  stop(): void {
    this.#latest.stop();
  }

  async #pointText(level: ShownLevel, d: number, i: number): Promise<string> {
    const { labels } = await this.#labels.of(level, d, at(i));
    return `${this.#shown.names[d]} ${labelText(labels[0])}`;
  }
}
