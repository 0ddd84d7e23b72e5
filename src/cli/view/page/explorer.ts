import type { Cut, DrawnNumbers } from "../../../flows/view/read-numbers.ts";
import { type Box, Plot, SeriesPanel } from "./chart.ts";
import {
  ChannelPanel,
  type ChannelState,
  ColorBar,
  missingLegend,
  paintChannels,
  paintColors,
} from "./color-panel.ts";
import { CommandPanel, type Equivalent, sliceEquivalent } from "./commands.ts";
import { el, fill, labeled, select } from "./dom.ts";
import { AskFirst, getValues, Latest } from "./requests.ts";
import { at, cutOf, cutText, type Shown, type ShownLevel } from "./shown.ts";
import { Labels, type Named, Sliders } from "./sliders.ts";
import { labelText, numberText, ticksOf } from "./words.ts";

/** Maximum number of items along one side of a picture. */
const MAX_SIDE = 1000;
const WHOLE: Box = { left: 0, top: 0, right: 1, bottom: 1 };

/** The content of the current picture. */
interface Drawn {
  readonly level: ShownLevel;
  readonly y: Cut;
  readonly x: Cut;
  readonly labels: readonly [y: Named, x: Named];
  readonly layers: readonly { readonly channel: ChannelState | undefined; readonly values: DrawnNumbers }[];
  readonly isUpward: boolean;
}

/** The picture, series and commands of an array or an image. */
export class Explorer {
  readonly root = el("div", { class: "explorer" });
  readonly #shown: Shown;
  readonly #base: string;
  readonly #labels: Labels;
  readonly #plot: Plot;
  readonly #bar = new ColorBar(() => this.#paint());
  readonly #channels: ChannelPanel | undefined;
  readonly #sliders: Sliders;
  readonly #series: SeriesPanel;
  readonly #commands = new CommandPanel();
  readonly #ask = new AskFirst();
  readonly #latest = new Latest();
  readonly #missing = el("div", { class: "colors" }, missingLegend());
  readonly #readout = el("output", { class: "readout" });
  readonly #picture = el("section", { class: "card", "aria-label": "Picture" });
  readonly #equivalents = new Map<string, Equivalent>();
  #level: ShownLevel;
  #y: number;
  #x: number;
  #index: number[];
  /** The visible part of the two drawn dimensions, in the order of their items. */
  #box = WHOLE;
  #drawn: Drawn | undefined;

  constructor(shown: Shown, base: string, metadata: Equivalent) {
    this.#equivalents.set(metadata.name, metadata);
    this.#shown = shown;
    this.#base = base;
    this.#labels = new Labels(shown);
    const rank = shown.names.length;
    const named = (name: string) => shown.names.indexOf(name);
    [this.#y, this.#x] = [rank - 2, rank - 1];
    if (shown.channels && named("y") >= 0 && named("x") >= 0) [this.#y, this.#x] = [named("y"), named("x")];
    this.#level =
      shown.levels.find(({ shape }) => Math.max(...shape.slice(-2)) <= MAX_SIDE) ?? lastOf(shown.levels);
    this.#index = shown.names.map((name, d) =>
      Math.min(shown.first[name] ?? 0, (this.#level.shape[d] ?? 1) - 1),
    );
    this.#channels =
      shown.channels && new ChannelPanel(shown, (areOthers) => (areOthers ? this.#load() : this.#paint()));
    let waiting: ReturnType<typeof setTimeout> | undefined;
    this.#sliders = new Sliders(this.#labels, () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#load(), 60);
    });
    this.#plot = new Plot({
      onCursor: (column, row) => this.#tell(column, row),
      onPoint: (column, row) => this.#series.show(this.#level, this.#pointAt(column, row)),
      onZoom: (box) => this.#zoom(box),
    });
    const others = shown.names.map((_, d) => d).filter((d) => ![this.#y, this.#x, shown.channel].includes(d));
    const longest = others.filter((d) => (this.#level.shape[d] ?? 1) > 1);
    this.#series = new SeriesPanel(
      { shown, labels: this.#labels, along: longest[0] ?? Math.max(0, this.#x) },
      (level, cuts, along) => this.#offer("Series", level, cuts, (d) => d !== along),
    );
    this.#lay();
  }

  /** Reads and draws the first view. */
  start(): void {
    if (this.#shown.names.length >= 2) this.#load();
    else this.#series.show(this.#level, this.#index);
  }

  stop(): void {
    this.#latest.stop();
    this.#series.stop();
  }

  #lay(): void {
    const rank = this.#shown.names.length;
    const { levels, title, units } = this.#shown;
    const resolutions = levels.map(
      ({ shape }, i) => [`${i}`, `${i}: ${shape[this.#y]} × ${shape[this.#x]}`] as const,
    );
    const level = select(resolutions, `${levels.indexOf(this.#level)}`, (i) =>
      this.#setLevel(levels[Number(i)]),
    );
    const button = (text: string, name: string, box: () => Box | undefined) =>
      el(
        "button",
        { type: "button", "aria-label": name, title: name, onclick: () => this.#zoom(box()) },
        text,
      );
    fill(
      this.#picture,
      el(
        "div",
        { class: "head" },
        el(
          "h3",
          {},
          title || (this.#channels ? "Image" : "Picture"),
          units && el("span", { class: "soft" }, ` ${units}`),
        ),
        levels.length > 1 && labeled("Level", level),
        rank > 2 &&
          !this.#channels &&
          this.#axisChoice(
            "Down",
            () => this.#y,
            (d) => this.#setAxes(d, this.#x),
          ),
        rank > 2 &&
          !this.#channels &&
          this.#axisChoice(
            "Across",
            () => this.#x,
            (d) => this.#setAxes(this.#y, d),
          ),
        el(
          "span",
          { class: "buttons" },
          button("+", "Zoom in", () => this.#plot.around(0.5)),
          button("−", "Zoom out", () => this.#plot.around(2)),
          button("All", "Show all", () => undefined),
        ),
      ),
      this.#channels?.root,
      this.#plot.frame.root,
      this.#readout,
      this.#channels ? this.#missing : this.#bar.root,
      this.#sliders.root,
      this.#ask.root,
      el(
        "p",
        { class: "soft hint" },
        "In the picture: arrow keys move the cursor, Enter draws the series, + and − zoom, 0 shows all. Or click, and drag to zoom.",
      ),
    );
    fill(this.root, rank >= 2 && this.#picture, this.#series.root, this.#commands.root);
    this.#plot.center();
    this.#layAxes();
    this.#showCommands();
  }

  #layAxes(): void {
    const { names, channel } = this.#shown;
    const drawn = [this.#y, this.#x, this.#channels ? channel : -1];
    const others = names
      .map((_, d) => d)
      .filter((d) => !drawn.includes(d) && (this.#level.shape[d] ?? 1) > 1);
    this.#sliders.show(this.#shown, this.#level, this.#index, others);
  }

  #axisChoice(name: string, now: () => number, set: (d: number) => void): HTMLElement {
    const choice = select(
      this.#shown.names.map((one, d) => [`${d}`, one] as const),
      `${now()}`,
      (d) => set(Number(d)),
    );
    this.#axisChoices.push(() => {
      choice.value = `${now()}`;
    });
    return labeled(name, choice);
  }

  readonly #axisChoices: (() => void)[] = [];

  /** Draws other dimensions. If the dimension of the other axis is chosen, the two axes swap. */
  #setAxes(y: number, x: number): void {
    if (y === x) [this.#y, this.#x] = [this.#x, this.#y];
    else [this.#y, this.#x] = [y, x];
    for (const show of this.#axisChoices) show();
    this.#box = WHOLE;
    this.#layAxes();
    this.#load();
  }

  #setLevel(level: ShownLevel | undefined): void {
    if (level === undefined) return;
    const before = this.#level.shape;
    this.#level = level;
    this.#index = this.#index.map((i, d) => Math.floor((i * (level.shape[d] ?? 1)) / (before[d] ?? 1)));
    this.#layAxes();
    this.#load();
  }

  #zoom(box: Box | undefined): void {
    const { left, right, top, bottom } = this.#box;
    const [width, height] = [right - left, bottom - top];
    const flipped = box && this.#drawn?.isUpward ? { ...box, top: 1 - box.bottom, bottom: 1 - box.top } : box;
    const inside = (from: number, to: number): [number, number] => {
      const length = Math.min(1, to - from);
      const start = Math.min(1 - length, Math.max(0, from));
      return [start, start + length];
    };
    if (flipped === undefined) this.#box = WHOLE;
    else {
      const [l, r] = inside(left + flipped.left * width, left + flipped.right * width);
      const [t, b] = inside(top + flipped.top * height, top + flipped.bottom * height);
      this.#box = { left: l, right: r, top: t, bottom: b };
    }
    this.#load();
  }

  #cuts(y: Cut, x: Cut, channel: ChannelState | undefined): Cut[] {
    return this.#index.map((i, d) => {
      if (d === this.#y) return y;
      if (d === this.#x) return x;
      return at(channel && d === this.#shown.channel ? channel.index : i);
    });
  }

  #load(): void {
    const level = this.#level;
    if (level.shape.includes(0)) {
      this.#ask.say("This array has no items.");
      return;
    }
    const y = cutOf(level.shape[this.#y] ?? 1, this.#box.top, this.#box.bottom, MAX_SIDE);
    const x = cutOf(level.shape[this.#x] ?? 1, this.#box.left, this.#box.right, MAX_SIDE);
    const channels = this.#channels?.channels.filter(({ isActive }) => isActive) ?? [undefined];
    const parts = channels.map((channel) => this.#cuts(y, x, channel));
    if (!this.#ask.mayRead(level, parts, () => this.#load())) return;
    this.#latest.run(
      async (signal) => {
        this.#picture.setAttribute("aria-busy", "true");
        this.#ask.say("reading …");
        const [labels, layers] = await Promise.all([
          Promise.all([this.#labels.of(level, this.#y, y), this.#labels.of(level, this.#x, x)]),
          Promise.all(
            parts.map(async (cuts, i) => ({
              channel: channels[i],
              values: await getValues(level.path, cutText(cuts), signal),
            })),
          ),
        ]);
        signal.throwIfAborted();
        const [first, last] = [labels[0].labels[0], labels[0].labels.at(-1)];
        const isAscending = typeof first === "number" && typeof last === "number" && first < last;
        const isUpward = !this.#channels && labels[0].areCoordinates && isAscending;
        this.#drawn = { level, y, x, labels, layers, isUpward };
        this.#picture.setAttribute("aria-busy", "false");
        this.#ask.say(y.step * x.step > 1 ? `One item of each ${y.step} × ${x.step} is drawn.` : "");
        this.#paint();
        this.#offerPicture(parts);
      },
      (error) => {
        this.#picture.setAttribute("aria-busy", "false");
        this.#ask.fail(error);
      },
    );
  }

  #paint(): void {
    if (this.#drawn === undefined) return;
    const { level, y, x, labels, layers, isUpward } = this.#drawn;
    const size = { rows: y.count, columns: x.count, isUpward };
    const steps =
      this.#y < this.#x ? { rowStep: x.count, columnStep: 1 } : { rowStep: 1, columnStep: y.count };
    const missing = layers.reduce((sum, { values }) => sum + values.missing, 0);
    this.#missing.hidden = missing === 0;
    let image: ImageData;
    if (this.#channels) {
      const channels = this.#channels;
      image = paintChannels(
        layers.flatMap(({ channel, values: { data, range } }) =>
          channel
            ? [{ data, ...steps, color: channel.color, window: channels.windowOf(channel, range) }]
            : [],
        ),
        size,
      );
    } else {
      const { data, range } = layers[0]?.values ?? { data: [] };
      image = paintColors({ data, ...steps }, size, this.#bar.rangeFor(range), this.#bar.table);
      this.#bar.describe(this.#shown.units, missing, y.count * x.count);
    }
    const lengths = [y, x].map(({ count, step }, i) => {
      const d = i === 0 ? this.#y : this.#x;
      return count * step * (this.#channels ? (level.scale?.[d] ?? 1) : 1);
    });
    const aspect = (lengths[1] ?? 1) / (lengths[0] ?? 1);
    this.#plot.draw(image, Math.min(4, Math.max(this.#channels ? 0.25 : 0.8, aspect)));
    const { room } = this.#plot.frame;
    const [down, across] = labels;
    const marks = ticksOf(down.labels, room.y);
    const turned = isUpward ? marks.map(({ at: part, text }) => ({ at: 1 - part, text })) : marks;
    this.#plot.frame.setTicks("y", turned, down.title);
    this.#plot.frame.setTicks("x", ticksOf(across.labels, room.x), across.title);
    this.#plot.description = `${down.title} down, ${across.title} across, ${y.count} × ${x.count} items, ${missing} missing`;
  }

  /** The index of the item at a column and row of the picture. */
  #pointAt(column: number, row: number): number[] {
    if (this.#drawn === undefined) return this.#index;
    const { y, x, isUpward, layers } = this.#drawn;
    const down = isUpward ? y.count - 1 - row : row;
    const cuts = this.#cuts(at(y.start + down * y.step), at(x.start + column * x.step), layers[0]?.channel);
    return cuts.map(({ start }) => start);
  }

  #tell(column: number, row: number): void {
    if (this.#drawn === undefined) return;
    const { y, x, labels, layers, isUpward } = this.#drawn;
    const down = isUpward ? y.count - 1 - row : row;
    const place = this.#y < this.#x ? down * x.count + column : column * y.count + down;
    const values = layers.map(({ values: { data } }) => numberText(data[place]));
    const where = [
      [this.#y, labels[0].labels[down], y.start + down * y.step, labels[0].areCoordinates],
      [this.#x, labels[1].labels[column], x.start + column * x.step, labels[1].areCoordinates],
    ] as const;
    const words = where.map(([d, label, i, isLabel]) => {
      const name = this.#shown.names[d];
      return isLabel ? `${name} ${labelText(label)} [${i}]` : `${name} [${i}]`;
    });
    fill(this.#readout, el("b", {}, values.join(", ")), ` ${this.#shown.units} at ${words.join(", ")}`);
  }

  #offerPicture(parts: readonly (readonly Cut[])[]): void {
    const [cuts, last] = [parts[0], parts.at(-1)];
    if (cuts === undefined || last === undefined) return;
    const { channel } = this.#shown;
    const from = cuts[channel]?.start ?? 0;
    const count = (last[channel]?.start ?? 0) - from + 1;
    const all = cuts.map((cut, d) => (d === channel && this.#channels ? { ...cut, count } : cut));
    const isDropped = (d: number) => ![this.#y, this.#x].includes(d) && all[d]?.count === 1;
    this.#offer("Picture", this.#level, all, isDropped);
  }

  #offer(name: string, level: ShownLevel, cuts: readonly Cut[], isDropped: (d: number) => boolean): void {
    const dropped = cuts.map((_, d) => d).filter(isDropped);
    const place = { base: this.#base, shown: this.#shown, level };
    this.#equivalents.set(name, sliceEquivalent(name, place, cuts, dropped));
    this.#showCommands();
  }

  #showCommands(): void {
    this.#commands.show([...this.#equivalents.values()].reverse());
  }
}

function lastOf(levels: readonly ShownLevel[]): ShownLevel {
  const last = levels.at(-1);
  if (last === undefined) throw new Error("there is nothing to show");
  return last;
}
