import { el, fill, labelled, select, svg } from "./dom.ts";
import { Frame, place } from "./plot.ts";
import { AskFirst, getValues, Latest } from "./requests.ts";
import { at, type Cut, cutOf, cutText, type Shown, type ShownLevel } from "./shown.ts";
import type { Labels } from "./sliders.ts";
import { type Label, labelText, niceNumbers, numberText, ordinal, ticksOf } from "./words.ts";

export interface ChartSeries {
  readonly values: ArrayLike<number>;
  readonly labels: readonly Label[];
  readonly name: string;
  readonly units: string;
}

/** A line chart of numbers along a dimension, with gaps for missing ones. The arrow keys move along it. */
export class Chart {
  readonly root: HTMLElement;
  readonly #line = svg("path", { class: "line" });
  readonly #dots = svg("path", { class: "dots" });
  readonly #mark = el("div", { class: "mark", hidden: true });
  readonly #readout = el("output", { class: "readout" });
  readonly #frame: Frame;
  readonly #drawing: HTMLElement;
  #series: ChartSeries | undefined;
  #at = 0;

  constructor() {
    const lines = svg(
      "svg",
      { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" },
      this.#line,
      this.#dots,
    );
    this.#drawing = el(
      "div",
      {
        class: "chart",
        tabindex: 0,
        role: "application",
        "aria-roledescription": "chart",
        "aria-label": "series",
        onkeydown: (event: KeyboardEvent) => this.#move(event),
        onpointermove: (event: PointerEvent) => {
          const { left, width } = this.#drawing.getBoundingClientRect();
          this.#show(Math.floor(((event.clientX - left) / width) * this.#length));
        },
      },
      lines as unknown as HTMLElement,
      this.#mark,
    );
    this.#frame = new Frame(this.#drawing);
    this.root = el("div", {}, this.#frame.root, this.#readout);
  }

  get #length(): number {
    return this.#series?.values.length ?? 0;
  }

  draw(series: ChartSeries): void {
    this.#series = series;
    const { values, labels, name, units } = series;
    const finite = Array.from(values).filter(Number.isFinite);
    const ends = [Math.min(...finite), Math.max(...finite)] as const;
    const margin = (ends[1] - ends[0]) * 0.06 || Math.abs(ends[0]) * 0.1 || 1;
    const [low, high] = finite.length === 0 ? [0, 1] : [ends[0] - margin, ends[1] + margin];
    const y = (value: number) => 1 - (value - low) / (high - low);
    const x = (i: number) => (i + 0.5) / values.length;
    let [path, dots] = ["", ""];
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? Number.NaN;
      if (!Number.isFinite(value)) continue;
      const point = `${x(i).toFixed(5)} ${y(value).toFixed(5)}`;
      const [isAfter, isBefore] = [i - 1, i + 1].map((other) => Number.isFinite(values[other] ?? Number.NaN));
      path += `${isAfter ? "L" : "M"}${point}`;
      if (values.length <= 60 || !(isAfter || isBefore)) dots += `M${point}h0`;
    }
    this.#line.setAttribute("d", path);
    this.#dots.setAttribute("d", dots);
    this.#drawing.setAttribute(
      "aria-label",
      `${name}: ${values.length} items from ${numberText(ends[0])} to ${numberText(ends[1])} ${units}`,
    );
    const { room } = this.#frame;
    const marks = niceNumbers(low, high, room.y.length / room.y.number);
    this.#frame.setTicks(
      "y",
      marks.map((value) => ({ at: y(value), text: numberText(value) })),
      units,
    );
    this.#frame.setTicks("x", ticksOf(labels, room.x), name);
    this.#mark.hidden = true;
    const missing = values.length - finite.length;
    fill(this.#readout, missing > 0 ? `${missing} of ${values.length} items are missing` : "");
  }

  #move(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      PageUp: -10,
      PageDown: 10,
    };
    const ends: Readonly<Record<string, number>> = { Home: 0, End: this.#length - 1 };
    const to = ends[event.key] ?? this.#at + (steps[event.key] ?? Number.NaN);
    if (Number.isNaN(to)) return;
    event.preventDefault();
    this.#show(to);
  }

  #show(index: number): void {
    if (this.#series === undefined || this.#length === 0) return;
    this.#at = Math.min(this.#length - 1, Math.max(0, index));
    const { values, labels, name, units } = this.#series;
    this.#mark.hidden = false;
    place(this.#mark, "left", (this.#at + 0.5) / this.#length);
    fill(this.#readout, `${name} ${labelText(labels[this.#at])}: ${numberText(values[this.#at])} ${units}`);
  }
}

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
