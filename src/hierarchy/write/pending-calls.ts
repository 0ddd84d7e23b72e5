import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** The pending calls of one writer, until it is closed or aborted. */
export class PendingCalls {
  readonly #signal: AbortSignal | undefined;
  readonly #path: string;
  /** Each call has its own signal: runtimes warn of leaks when many listeners share one. */
  readonly #running = new Map<Promise<void>, AbortController>();
  #failure: { readonly error: unknown } | undefined;
  readonly #stopListening: () => void;
  #isOver = false;

  constructor(path: string, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#signal = signal;
    this.#stopListening = onAbort(signal, () => this.#abortAll(abortError(signal?.reason)));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs a call; its failure aborts all others.
   *
   * @throws `unsupported-operation` if the writer is closed or aborted; that failure.
   */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.assertOpen();
    await this.#run(work);
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    throwIfAborted(this.#signal);
    if (this.#failure) throw this.#failure.error;
    const controller = new AbortController();
    const running = work(controller.signal).catch((error: unknown) => {
      this.#failure ??= { error };
      this.#abortAll(error);
      throw error;
    });
    this.#running.set(running, controller);
    try {
      await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Closes the writer once pending calls and then `last` have ended. @throws the first failure of any call. */
  async finish(last: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.assertOpen();
    this.#isOver = true;
    await Promise.allSettled(this.#running.keys());
    try {
      await this.#run(last);
      throwIfAborted(this.#signal);
    } finally {
      this.#stopListening();
    }
  }

  /** Aborts pending calls and closes the writer. */
  async stop(reason: unknown): Promise<void> {
    this.#abortAll(reason);
    this.#isOver = true;
    await Promise.allSettled(this.#running.keys());
    this.#stopListening();
  }

  assertOpen(): void {
    if (!this.#isOver) return;
    throw new ZarrflowError("unsupported-operation", "the target is published or aborted", {
      path: this.#path,
    });
  }

  #abortAll(reason: unknown): void {
    for (const controller of this.#running.values()) controller.abort(reason);
  }
}
