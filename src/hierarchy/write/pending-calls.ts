import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** The calls of one writer that are under way, until it is closed or given up. */
export class PendingCalls {
  readonly #signal: AbortSignal | undefined;
  readonly #path: string;
  /** Each has a signal of its own: runtimes warn of leaks when many listen on one. */
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

  /** Runs one call; its failure stops all others. @throws `unsupported-operation` when the writer's life is over; that failure. */
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

  /** Ends the writer's life when what is running has ended, and then `last`. @throws the first failure of any call. */
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

  /** Stops what is running and ends the writer's life. */
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
