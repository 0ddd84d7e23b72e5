import type { Inflation } from "./inflation.ts";

/** Maximum number of inflations kept for later reads: as many values as a copy reads at a time. */
const MAX_OPEN = 16;

interface OpenInflation {
  /** Offset of its entry. */
  readonly entry: number;
  readonly inflation: Inflation;
  /** Position when its current use ends. */
  until: number;
  /** Resolves when its current use ends; undefined if it is not in use. */
  use: Promise<void> | undefined;
}

/**
 * Inflations of entries, which continue where the last part ended, so that parts that are read in order inflate
 * each byte once. A part waits for an inflation that is in use by an earlier part.
 */
export class OpenInflations {
  readonly #open = new Set<OpenInflation>();

  /**
   * Fills `into` with the bytes at `offset` of the value of an entry.
   *
   * @param begin starts an inflation if none can continue
   * @throws as `Inflation.fill`
   */
  async fill(entry: number, offset: number, into: Uint8Array, begin: () => Inflation): Promise<void> {
    let open = this.#nearest(entry, offset);
    for (; open?.use; open = this.#nearest(entry, offset)) await open.use;
    if (open === undefined) {
      open = { entry, inflation: begin(), until: 0, use: undefined };
      this.#open.add(open);
    }
    open.until = offset + into.length;
    let done = () => {};
    open.use = new Promise((resolve) => (done = resolve));
    try {
      await open.inflation.fill(offset, into);
    } catch (error) {
      await this.#end(open);
      throw error;
    } finally {
      open.use = undefined;
      done();
    }
    if (open.inflation.isOver) await this.#end(open);
    else if (this.#open.delete(open)) this.#open.add(open);
    await this.#endOldest();
  }

  async end(): Promise<void> {
    await Promise.all([...this.#open].map((open) => this.#end(open)));
  }

  /** Returns the inflation of an entry that will be nearest before `offset`. */
  #nearest(entry: number, offset: number): OpenInflation | undefined {
    let nearest: OpenInflation | undefined;
    for (const open of this.#open) {
      if (open.entry !== entry || open.until > offset) continue;
      if (nearest === undefined || open.until > nearest.until) nearest = open;
    }
    return nearest;
  }

  async #endOldest(): Promise<void> {
    for (const open of this.#open) {
      if (this.#open.size <= MAX_OPEN) return;
      if (open.use === undefined) await this.#end(open);
    }
  }

  async #end(open: OpenInflation): Promise<void> {
    this.#open.delete(open);
    await open.inflation.end().catch(() => {}); // failures have been reported already
  }
}
