import { el, fill } from "./dom.ts";
import type { Room, Tick } from "./words.ts";

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
      place(mark, isX ? "left" : "top", at);
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

export function place(element: HTMLElement, side: "left" | "top" | "width" | "height", part: number): void {
  element.style.setProperty(side, `${100 * part}%`);
}
