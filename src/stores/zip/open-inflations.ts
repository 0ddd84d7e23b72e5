import type { Inflation } from "./inflation.ts";

/** Inflations that are kept for what may be read next: as many values as a copy reads at one time. */
const MAX_OPEN = 16;

interface OpenInflation {
  /** Which entry it is of. */
  readonly entry: number;
  readonly inflation: Inflation;
  /** Where it will be when nobody uses it. */
  until: number;
  /** Resolves when it is used no more; undefined where it is not used. */
  use: Promise<void> | undefined;
}

/**
 * Inflations of entries, each of which goes on where the last part ended that was taken of it: parts that are read one after
 * the other inflate each byte once. A part waits for one that ends where it begins.
 */
export class OpenInflations {
  readonly #open = new Set<OpenInflation>();

  /**
   * Fills `into` with what lies at `offset` of the value of an entry.
   *
   * @param begin begins an inflation where none can go on
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

  /** Ends all. */
  async end(): Promise<void> {
    await Promise.all([...this.#open].map((open) => this.#end(open)));
  }

  /** That of an entry which will be the nearest before `offset`. */
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
    await open.inflation.end().catch(() => {}); // what failed has been reported already
  }
}
