import { el, fill, labeled, select } from "./dom.ts";
import type { Shown } from "./shown.ts";

type Range = readonly [number, number];

/** The display of one channel. */
export interface ChannelState {
  readonly index: number;
  isActive: boolean;
  color: string;
  /** The numbers drawn black and in full color; by default the least and the largest number shown. */
  window: Range | undefined;
}

/** The legend for missing items: a pattern that shows through the picture. */
export function missingLegend(part = ""): HTMLElement {
  return el("span", { class: "legend" }, el("i", { class: "swatch hatched" }), `missing${part}`);
}

/** The colors of numbers: a bar from the lowest to the highest, both of which the user can set. */
export class ColorBar {
  readonly root: HTMLElement;
  readonly #bar = el("canvas", {
    class: "bar",
    width: 256,
    height: 1,
    role: "img",
    "aria-label": "color bar",
  });
  readonly #low: HTMLInputElement;
  readonly #high: HTMLInputElement;
  readonly #auto: HTMLInputElement;
  readonly #units = el("span", { class: "soft" });
  readonly #missing = el("span", {});
  table = colorTable("viridis");

  constructor(onChange: () => void) {
    const typed = () => {
      this.#auto.checked = false;
      onChange();
    };
    this.#low = el("input", { type: "number", step: "any", "aria-label": "lowest color", onchange: typed });
    this.#high = el("input", {
      type: "number",
      step: "any",
      "aria-label": "highest color",
      onchange: typed,
    });
    this.#auto = el("input", { type: "checkbox", checked: true, onchange: onChange });
    const names = Object.keys(COLOR_MAPS).map((name) => [name, name] as const);
    const map = select(names, "viridis", (name) => {
      this.table = colorTable(name);
      this.#drawBar();
      onChange();
    });
    this.root = el(
      "div",
      { class: "colors" },
      el("div", { class: "scale" }, this.#low, this.#bar, this.#high, this.#units),
      labeled("Colors", map),
      labeled("Fit to what is shown", this.#auto),
      this.#missing,
    );
    this.#drawBar();
  }

  /** Returns the range of the colors for numbers with this range. */
  rangeFor(range: Range | undefined): Range {
    if (this.#auto.checked && range) {
      [this.#low.value, this.#high.value] = range.map((end) => `${Number(end.toPrecision(6))}`) as [
        string,
        string,
      ];
      return range;
    }
    const [low, high] = [this.#low, this.#high].map(({ valueAsNumber }) => valueAsNumber);
    return Number.isFinite(low) && Number.isFinite(high) ? [low ?? 0, high ?? 0] : (range ?? [0, 1]);
  }

  describe(units: string, missing: number, count: number): void {
    fill(this.#units, units);
    const percent = (100 * missing) / count;
    const part = percent > 0 && percent < 0.1 ? "<0.1" : percent.toFixed(percent < 10 ? 1 : 0);
    fill(
      this.#missing,
      ...(missing > 0
        ? [missingLegend(` ${part} %`)]
        : [el("span", { class: "soft" }, "nothing is missing")]),
    );
  }

  #drawBar(): void {
    const image = new ImageData(256, 1);
    for (let i = 0; i < 256; i++) {
      for (let k = 0; k < 3; k++) image.data[4 * i + k] = this.table[3 * i + k] ?? 0;
      image.data[4 * i + 3] = 255;
    }
    this.#bar.getContext("2d")?.putImageData(image, 0, 0);
  }
}

/** The channels of an image: which are shown, and the color and window of each. */
export class ChannelPanel {
  readonly root: HTMLElement;
  readonly channels: readonly ChannelState[];
  readonly #inputs = new Map<ChannelState, readonly HTMLInputElement[]>();

  /** @param onChange called with true if the set of shown channels changed */
  constructor({ channels = [] }: Shown, onChange: (areOthers: boolean) => void) {
    this.channels = channels.map((channel, index) => ({
      index,
      isActive: channel.isActive,
      color: channelColor(channel.color, index, channels.length),
      window: channel.window,
    }));
    const rows = this.channels.map((state) => {
      const name = channels[state.index]?.label ?? `channel ${state.index}`;
      const shown = el("input", {
        type: "checkbox",
        checked: state.isActive,
        onchange: () => {
          state.isActive = shown.checked;
          onChange(true);
        },
      });
      const color = el("input", {
        type: "color",
        value: `#${state.color}`,
        "aria-label": `${name}: color`,
        oninput: () => {
          state.color = color.value.slice(1);
          onChange(false);
        },
      });
      const ends = ["black at", "full color at"].map((end) =>
        el("input", {
          type: "number",
          step: "any",
          "aria-label": `${name}: ${end}`,
          onchange: () => {
            const [low, high] = ends.map(({ valueAsNumber }) => valueAsNumber);
            state.window = Number.isFinite(low) && Number.isFinite(high) ? [low ?? 0, high ?? 0] : undefined;
            onChange(false);
          },
        }),
      );
      this.#inputs.set(state, ends);
      const [low, high] = ends;
      return el("div", { class: "channel" }, el("label", {}, shown, name), color, low, "–", high);
    });
    this.root = el("div", { class: "channels", role: "group", "aria-label": "Channels" }, ...rows);
  }

  /** Returns the window of a channel, by default the range of its shown numbers, and shows it in its inputs. */
  windowOf(state: ChannelState, range: Range | undefined): Range {
    const window = state.window ?? range ?? [0, 1];
    this.#inputs.get(state)?.forEach((input, i) => {
      if (document.activeElement !== input) input.value = `${Number((window[i] ?? 0).toPrecision(6))}`;
    });
    return window;
  }
}

/** Numbers of a picture, and the layout of its rows and columns in them. */
export interface Layer {
  readonly data: ArrayLike<number>;
  /** Items from one row, and from one column, to the next. */
  readonly rowStep: number;
  readonly columnStep: number;
}

export interface PaintedChannel extends Layer {
  readonly color: string;
  /** The numbers that are drawn in black and in full color. */
  readonly window: readonly [number, number];
}

interface Size {
  readonly rows: number;
  readonly columns: number;
  /** True if the first row is at the bottom. */
  readonly isUpward: boolean;
}

/** Paints numbers with a color map; missing items stay transparent. */
export function paintColors(
  { data, rowStep, columnStep }: Layer,
  size: Size,
  [low, high]: readonly [number, number],
  table: Uint8ClampedArray,
): ImageData {
  const scale = high > low ? 255 / (high - low) : 0;
  return painted(size, (row, column, pixels, to) => {
    const value = data[row * rowStep + column * columnStep] ?? Number.NaN;
    if (Number.isNaN(value)) return;
    const shade = scale === 0 ? 127 : Math.max(0, Math.min(255, Math.round((value - low) * scale)));
    for (let k = 0; k < 3; k++) pixels[to + k] = table[3 * shade + k] ?? 0;
    pixels[to + 3] = 255;
  });
}

/** Adds up the light of all channels. A pixel stays transparent only if it is missing in all of them. */
export function paintChannels(channels: readonly PaintedChannel[], size: Size): ImageData {
  const lights = channels.map(({ color, window: [low, high], ...layer }) => ({
    ...layer,
    low,
    scale: 1 / Math.max(high - low, Number.MIN_VALUE),
    color: hexColor(color),
  }));
  return painted(size, (row, column, pixels, to) => {
    for (const { data, rowStep, columnStep, low, scale, color } of lights) {
      const value = data[row * rowStep + column * columnStep] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const light = Math.max(0, Math.min(1, (value - low) * scale));
      for (let k = 0; k < 3; k++) pixels[to + k] = (pixels[to + k] ?? 0) + light * (color[k] ?? 0);
      pixels[to + 3] = 255;
    }
  });
}

function painted(
  { rows, columns, isUpward }: Size,
  paint: (row: number, column: number, pixels: Uint8ClampedArray, to: number) => void,
): ImageData {
  const image = new ImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    const to = (isUpward ? rows - 1 - row : row) * columns;
    for (let column = 0; column < columns; column++) paint(row, column, image.data, 4 * (to + column));
  }
  return image;
}

type Rgb = readonly [number, number, number];

/** Color maps, from low to high, as evenly spaced stops. */
export const COLOR_MAPS: Readonly<Record<string, string>> = {
  viridis: "440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725",
  magma: "000004 1c1044 4f127b 812581 b5367a e55964 fb8761 fec287 fcfdbf",
  balance: "053061 2166ac 4393c3 92c5de f7f7f7 f4a582 d6604d b2182b 67001f",
  gray: "000000 ffffff",
};

export function hexColor(hex: string): Rgb {
  const number = Number.parseInt(hex, 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** The 256 colors of a map, three bytes each. */
export function colorTable(name: string): Uint8ClampedArray {
  const stops = (COLOR_MAPS[name] ?? "").split(" ").map(hexColor);
  const table = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const [a, b] = [stops[Math.floor(at)], stops[Math.ceil(at)]];
    for (let k = 0; k < 3; k++) table[3 * i + k] = (a?.[k] ?? 0) + ((b?.[k] ?? 0) - (a?.[k] ?? 0)) * (at % 1);
  }
  return table;
}

/** Colors of channels that specify none. */
const CHANNEL_COLORS = ["ff0000", "00ff00", "0000ff", "00ffff", "ff00ff", "ffff00"];

export function channelColor(stated: string | undefined, i: number, count: number): string {
  return stated ?? (count === 1 ? "ffffff" : (CHANNEL_COLORS[i % CHANNEL_COLORS.length] ?? "ffffff"));
}
