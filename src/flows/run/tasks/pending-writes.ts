/**
 * Writes that stay in flight while their task continues. Used for a target whose single writer, possibly in another
 * thread, takes values in turn.
 */
export class PendingWrites {
  readonly #most: number;
  readonly #pending = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** @param most maximum number of writes in flight; 0 waits for each */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Adds a write and waits while too many are in flight.
   *
   * @throws the first failure of any write.
   */
  async add(write: Promise<void>): Promise<void> {
    const settled = write
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .then(() => {
        this.#pending.delete(settled);
      });
    this.#pending.add(settled);
    while (this.#pending.size > this.#most) await Promise.race(this.#pending);
    if (this.#failure) throw this.#failure.error;
  }

  /** Waits until all writes have settled. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Waits for all writes. @throws the first failure. */
  async end(): Promise<void> {
    await this.settle();
    if (this.#failure) throw this.#failure.error;
  }
}
