import { followSignals } from "../../util/abort.ts";

/** Sends parts, several at a time, and owns their buffers. */
export class PartSender {
  readonly #send: (part: Uint8Array, number: number, signal: AbortSignal) => Promise<void>;
  /** Bytes of all parts in memory, including the one that is being filled. */
  readonly #memory: number;
  readonly #following: ReturnType<typeof followSignals>;
  readonly #giveUp = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #free: Uint8Array[] = [];
  #failure: { readonly reason: unknown } | undefined;

  /** @param memory bytes of the parts that may be in memory at a time; one part is always allowed */
  constructor(
    send: (part: Uint8Array, number: number, signal: AbortSignal) => Promise<void>,
    { memory, signal }: { readonly memory: number; readonly signal: AbortSignal | undefined },
  ) {
    this.#send = send;
    this.#memory = memory;
    this.#following = followSignals(signal, this.#giveUp.signal);
  }

  /**
   * Sends the first `filled` bytes of a part, and takes over its buffer. Resolves to a buffer of `bytes` bytes
   * when there is room for it.
   *
   * @throws the error of sending this part or an earlier one.
   */
  async send(part: Uint8Array, filled: number, number: number, bytes: number): Promise<Uint8Array> {
    const sending = this.#send(part.subarray(0, filled), number, this.#following.signal)
      .then(
        () => void this.#free.push(part),
        (reason) => {
          this.#failure ??= { reason };
        },
      )
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    const most = Math.max(1, Math.floor(this.#memory / Math.max(bytes, part.length)));
    while (this.#sending.size >= most) await Promise.race(this.#sending);
    this.#assertSound();
    const free = this.#free.pop();
    if (free?.length === bytes) return free;
    this.#free.length = 0;
    return new Uint8Array(bytes);
  }

  /** Resolves when all parts are sent. @throws as `send` */
  async sent(): Promise<void> {
    await Promise.all(this.#sending);
    this.#following.end();
    this.#assertSound();
  }

  /** Resolves when no part is being sent. Sends in flight after `afterMs` milliseconds are aborted. */
  async end(afterMs: number): Promise<void> {
    const timer = setTimeout(() => this.#giveUp.abort(), afterMs);
    await Promise.all(this.#sending);
    clearTimeout(timer);
    this.#following.end();
  }

  #assertSound(): void {
    if (this.#failure) throw this.#failure.reason;
  }
}
