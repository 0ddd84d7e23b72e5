import { el, fill, labelled, select } from "./dom.ts";
import { COLOUR_MAPS, channelColour, colourTable } from "./paint.ts";
import type { Shown } from "./shown.ts";

type Range = readonly [number, number];

/** The display of one channel. */
export interface ChannelState {
  readonly index: number;
  isActive: boolean;
  color: string;
  /** The numbers drawn black and in full colour; by default the least and the largest number shown. */
  window: Range | undefined;
}

/** The legend for missing items: a pattern that shows through the picture. */
export function missingLegend(part = ""): HTMLElement {
  return el("span", { class: "legend" }, el("i", { class: "swatch hatched" }), `missing${part}`);
}

/** The colours of numbers: a bar from the lowest to the highest, both of which the user can set. */
export class ColourBar {
  readonly root: HTMLElement;
  readonly #bar = el("canvas", {
    class: "bar",
    width: 256,
    height: 1,
    role: "img",
    "aria-label": "colour bar",
  });
  readonly #low: HTMLInputElement;
  readonly #high: HTMLInputElement;
  readonly #auto: HTMLInputElement;
  readonly #units = el("span", { class: "soft" });
  readonly #missing = el("span", {});
  table = colourTable("viridis");

  constructor(onChange: () => void) {
    const typed = () => {
      this.#auto.checked = false;
      onChange();
    };
    this.#low = el("input", { type: "number", step: "any", "aria-label": "lowest colour", onchange: typed });
    this.#high = el("input", {
      type: "number",
      step: "any",
      "aria-label": "highest colour",
      onchange: typed,
    });
    this.#auto = el("input", { type: "checkbox", checked: true, onchange: onChange });
    const names = Object.keys(COLOUR_MAPS).map((name) => [name, name] as const);
    const map = select(names, "viridis", (name) => {
      this.table = colourTable(name);
      this.#drawBar();
      onChange();
    });
    this.root = el(
      "div",
      { class: "colours" },
      el("div", { class: "scale" }, this.#low, this.#bar, this.#high, this.#units),
      labelled("Colours", map),
      labelled("Fit to what is shown", this.#auto),
      this.#missing,
    );
    this.#drawBar();
  }

  /** Returns the range of the colours for numbers with this range. */
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

/** The channels of an image: which are shown, and the colour and window of each. */
export class ChannelPanel {
  readonly root: HTMLElement;
  readonly channels: readonly ChannelState[];
  readonly #inputs = new Map<ChannelState, readonly HTMLInputElement[]>();

  /** @param onChange called with true if the set of shown channels changed */
  constructor({ channels = [] }: Shown, onChange: (areOthers: boolean) => void) {
    this.channels = channels.map((channel, index) => ({
      index,
      isActive: channel.isActive,
      color: channelColour(channel.color, index, channels.length),
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
        "aria-label": `${name}: colour`,
        oninput: () => {
          state.color = color.value.slice(1);
          onChange(false);
        },
      });
      const ends = ["black at", "full colour at"].map((end) =>
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
