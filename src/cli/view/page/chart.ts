import type { Cut } from "../../../flows/view/read-numbers.ts";
import { el, fill, labeled, select, svg } from "./dom.ts";
import { AskFirst, getValues, Latest } from "./requests.ts";
import { at, cutOf, cutText, type Shown, type ShownLevel } from "./shown.ts";
import type { Labels } from "./sliders.ts";
import {
  type AxisLabel,
  labelText,
  niceNumbers,
  numberText,
  ordinal,
  type Room,
  type Tick,
  ticksOf,
} from "./words.ts";

export interface ChartSeries {
  readonly values: ArrayLike<number>;
  readonly labels: readonly AxisLabel[];
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
    setLength(this.#mark, "left", (this.#at + 0.5) / this.#length);
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
      el("div", { class: "head" }, el("h3", {}, "Series"), choices.length > 1 && labeled("along", choice)),
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

/** A part of a picture, as fractions from its left and its top. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface PlotEvents {
  /** The cursor moved to this column and row of the picture. */
  readonly onCursor: (column: number, row: number) => void;
  /** The user chose this point. */
  readonly onPoint: (column: number, row: number) => void;
  /** A part of the picture was selected; undefined to show all. */
  readonly onZoom: (box: Box | undefined) => void;
}

/** Pixels from which a drag is a selection, not a click. */
const SHORTEST_DRAG = 6;

/** A picture with a cursor, for pointers and keys. */
export class Plot {
  readonly canvas = el("canvas", { class: "picture" });
  readonly frame: Frame;
  readonly #events: PlotEvents;
  readonly #cross = el("div", { class: "cross", hidden: true });
  readonly #band = el("div", { class: "band", hidden: true });
  readonly #surface: HTMLElement;
  #column = 0;
  #row = 0;
  #from: readonly [number, number] | undefined;

  constructor(events: PlotEvents) {
    this.#events = events;
    const surface = el(
      "div",
      {
        class: "surface",
        tabindex: 0,
        role: "application",
        "aria-roledescription": "picture",
        "aria-label": "picture",
        onkeydown: (event: KeyboardEvent) => this.#press(event),
        onpointerdown: (event: PointerEvent) => {
          this.#from = this.#part(event);
          surface.setPointerCapture(event.pointerId);
        },
        onpointermove: (event: PointerEvent) => this.#drag(event),
        onpointerup: (event: PointerEvent) => this.#release(event),
        onpointercancel: () => this.#endDrag(),
      },
      this.canvas,
      this.#cross,
      this.#band,
    );
    this.#surface = surface;
    this.frame = new Frame(surface);
  }

  set description(text: string) {
    this.#surface.setAttribute("aria-label", text);
  }

  draw(image: ImageData, aspect: number): void {
    const { width, height } = image;
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.getContext("2d", { willReadFrequently: true })?.putImageData(image, 0, 0);
    this.canvas.classList.toggle("smooth", width > 900);
    this.frame.root.style.setProperty("--aspect", `${aspect}`);
    this.#column = Math.min(this.#column, width - 1);
    this.#row = Math.min(this.#row, height - 1);
    this.#placeCross();
  }

  /** Moves the cursor to the middle. */
  center(): void {
    this.#column = this.canvas.width >> 1;
    this.#row = this.canvas.height >> 1;
    this.#placeCross();
  }

  /** The part around the cursor with `factor` times the size of the picture. */
  around(factor: number): Box {
    const { width, height } = this.canvas;
    const [x, y] = [(this.#column + 0.5) / width, (this.#row + 0.5) / height];
    return { left: x - factor / 2, right: x + factor / 2, top: y - factor / 2, bottom: y + factor / 2 };
  }

  #part(event: PointerEvent): readonly [number, number] {
    const { left, top, width, height } = this.#surface.getBoundingClientRect();
    const inside = (part: number) => Math.min(0.999999, Math.max(0, part));
    return [inside((event.clientX - left) / width), inside((event.clientY - top) / height)];
  }

  #goTo(column: number, row: number): void {
    this.#column = Math.min(this.canvas.width - 1, Math.max(0, column));
    this.#row = Math.min(this.canvas.height - 1, Math.max(0, row));
    this.#placeCross();
    this.#events.onCursor(this.#column, this.#row);
  }

  #placeCross(): void {
    setLength(this.#cross, "left", (this.#column + 0.5) / this.canvas.width);
    setLength(this.#cross, "top", (this.#row + 0.5) / this.canvas.height);
  }

  #press(event: KeyboardEvent): void {
    const far = event.shiftKey ? 10 : 1;
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [-far, 0],
      ArrowRight: [far, 0],
      ArrowUp: [0, -far],
      ArrowDown: [0, far],
    };
    const move = moves[event.key];
    if (move) this.#goTo(this.#column + move[0], this.#row + move[1]);
    else if (event.key === "Enter" || event.key === " ") this.#events.onPoint(this.#column, this.#row);
    else if (event.key === "+" || event.key === "=") this.#events.onZoom(this.around(0.5));
    else if (event.key === "-") this.#events.onZoom(this.around(2));
    else if (event.key === "0") this.#events.onZoom(undefined);
    else return;
    this.#cross.hidden = false;
    event.preventDefault();
  }

  #drag(event: PointerEvent): void {
    const [x, y] = this.#part(event);
    this.#goTo(Math.floor(x * this.canvas.width), Math.floor(y * this.canvas.height));
    if (this.#from === undefined) return;
    const { left, right, top, bottom } = boxOf(this.#from, [x, y]);
    this.#band.hidden = false;
    setLength(this.#band, "left", left);
    setLength(this.#band, "top", top);
    setLength(this.#band, "width", right - left);
    setLength(this.#band, "height", bottom - top);
  }

  #release(event: PointerEvent): void {
    const from = this.#from;
    if (from === undefined) return;
    this.#endDrag();
    const [x, y] = this.#part(event);
    const { width, height } = this.#surface.getBoundingClientRect();
    const box = boxOf(from, [x, y]);
    const isMark = Math.min((box.right - box.left) * width, (box.bottom - box.top) * height) >= SHORTEST_DRAG;
    if (isMark) this.#events.onZoom(box);
    else {
      this.#goTo(Math.floor(x * this.canvas.width), Math.floor(y * this.canvas.height));
      this.#cross.hidden = false;
      this.#events.onPoint(this.#column, this.#row);
    }
  }

  #endDrag(): void {
    this.#from = undefined;
    this.#band.hidden = true;
  }
}

function boxOf(a: readonly [number, number], b: readonly [number, number]): Box {
  return {
    left: Math.min(a[0], b[0]),
    right: Math.max(a[0], b[0]),
    top: Math.min(a[1], b[1]),
    bottom: Math.max(a[1], b[1]),
  };
}

/** A drawing with ticks and titles at its left and below. All positions are fractions of its size. */
export class Frame {
  readonly root: HTMLElement;
  readonly box: HTMLElement;
  readonly #x = el("div", { class: "ticks x", "aria-hidden": "true" });
  readonly #y = el("div", { class: "ticks y", "aria-hidden": "true" });
  readonly #titles = [el("div", { class: "title y" }), el("div", { class: "title x" })] as const;

  constructor(...contents: readonly Element[]) {
    this.box = el("div", { class: "box" }, ...contents);
    this.root = el("div", { class: "frame" }, this.#titles[0], this.#y, this.box, this.#x, this.#titles[1]);
  }

  /** Sets the ticks of a side: `y` from the top, `x` from the left. */
  setTicks(side: "x" | "y", ticks: readonly Tick[], title: string): void {
    const isX = side === "x";
    const marks = ticks.map(({ at, text }) => {
      const mark = el("span", {}, text);
      setLength(mark, isX ? "left" : "top", at);
      if (isX && at < 0.06) mark.className = "first";
      if (isX && at > 0.94) mark.className = "last";
      return mark;
    });
    fill(isX ? this.#x : this.#y, ...marks);
    fill(this.#titles[isX ? 1 : 0], title);
  }

  /** The space for ticks on each side. */
  get room(): { readonly x: Room; readonly y: Room } {
    const { clientWidth, clientHeight } = this.box;
    return {
      x: { length: clientWidth, number: 70, text: 130 },
      y: { length: clientHeight, number: 45, text: 45 },
    };
  }
}

export function setLength(
  element: HTMLElement,
  side: "left" | "top" | "width" | "height",
  part: number,
): void {
  element.style.setProperty(side, `${100 * part}%`);
}
