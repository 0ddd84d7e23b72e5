import { el, fill } from "./dom.ts";
import { type Cut, costOf, type ShownLevel } from "./shown.ts";
import { bytesText, counted } from "./words.ts";

/** Decoded bytes that are read without asking. */
const FREE_BYTES = 256e6;

/** A line with the status, and with a question before much is read. */
export class AskFirst {
  readonly root = el("div", { class: "status", role: "status" });
  /** The largest size that was allowed. Up to it, nothing is asked again. */
  #allowed = FREE_BYTES;

  say(text: string): void {
    fill(this.root, text);
  }

  fail({ message }: Error): void {
    fill(this.root, el("span", { class: "failure" }, message));
  }

  /** True if the parts may be read now. Otherwise asks, and calls `again` if the user agrees. */
  mayRead(level: ShownLevel, parts: readonly (readonly Cut[])[], again: () => void): boolean {
    const costs = parts.map((cuts) => costOf(level, cuts));
    const bytes = costs.reduce((sum, cost) => sum + cost.bytes, 0);
    const chunks = costs.reduce((sum, cost) => sum + cost.chunks, 0);
    if (bytes <= this.#allowed) return true;
    const allow = () => {
      this.#allowed = bytes;
      again();
    };
    fill(
      this.root,
      `This reads ${counted(chunks, "chunk")}, ${bytesText(bytes)} when decoded. `,
      el("button", { type: "button", onclick: allow }, "Read them"),
    );
    return false;
  }
}
