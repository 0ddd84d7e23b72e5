/**
 * Writes of a task that are under way while it goes on: for a target whose one writer takes values in their turn, maybe
 * in another thread.
 */
export class PendingWrites {
  readonly #most: number;
  readonly #pending = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** @param most writes under way at one time; with 0 each is waited for */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Waits until there is room for one more.
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

  /** Waits for all, whether they fail or not. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Waits for all. @throws the first failure. */
  async end(): Promise<void> {
    await this.settle();
    if (this.#failure) throw this.#failure.error;
  }
}
