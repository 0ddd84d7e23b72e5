import { abortError, onAbort, throwIfAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { parseBytes } from "../util/units.ts";

/** Bytes that were admitted. Releasing a lease again has no effect. */
export interface Lease {
  readonly bytes: number;
  release(): void;
}

interface Waiter {
  readonly bytes: number;
  admit(): void;
}

/**
 * Admits work by bytes, first come, first served. A task takes one lease before its first read and releases it after
 * its last write is committed. It acquires nothing in between, so no stage ever waits for another stage's memory.
 */
export class ByteBudget {
  /** The most bytes that may be leased at one time. */
  readonly limit: number;
  #leased = 0;
  #peak = 0;
  readonly #waiting: Waiter[] = [];
  readonly #shared: ByteBudget | undefined;
  /** Leases of the shared budget that were not released yet. */
  readonly #held = new Set<Lease>();
  #isClosed = false;

  /** @param shared a budget of several `ByteBudget`s; each lease is taken from it too */
  constructor(limit: number, shared?: ByteBudget) {
    this.limit = limit;
    this.#shared = shared;
  }

  /** Bytes leased now. */
  get leased(): number {
    return this.#leased;
  }

  /** The most bytes ever leased at one time. */
  get peak(): number {
    return this.#peak;
  }

  /**
   * Waits until `bytes` fit beside the leases that are held.
   *
   * @throws `budget-too-small` if they never will; `aborted` if the signal comes first.
   */
  async acquire(bytes: number, signal?: AbortSignal): Promise<Lease> {
    await this.#admitted(bytes, signal);
    const own = this.#lease(bytes);
    if (this.#shared === undefined) return own;
    try {
      return this.#with(await this.#shared.acquire(bytes, signal), own);
    } catch (error) {
      own.release();
      throw error;
    }
  }

  /** Leases `bytes` without waiting; returns undefined if they do not fit now or others are waiting. */
  acquireNow(bytes: number): Lease | undefined {
    if (this.#waiting.length > 0 || this.#leased + bytes > this.limit) return undefined;
    const shared = this.#shared?.acquireNow(bytes);
    if (this.#shared && shared === undefined) return undefined;
    this.#grant(bytes);
    const own = this.#lease(bytes);
    return shared ? this.#with(shared, own) : own;
  }

  /**
   * Waits until `count` leases of `bytes` each fit, and takes them all.
   *
   * @throws as `acquire`
   */
  async acquireEach(count: number, bytes: number, signal?: AbortSignal): Promise<Lease[]> {
    await this.#admitted(count * bytes, signal);
    const own = Array.from({ length: count }, () => this.#lease(bytes));
    if (this.#shared === undefined) return own;
    try {
      const shared = await this.#shared.acquireEach(count, bytes, signal);
      return own.map((lease, i) => this.#with(shared[i], lease));
    } catch (error) {
      for (const lease of own) lease.release();
      throw error;
    }
  }

  /** Releases the leases of the shared budget that are still held. Call it when the work has ended or failed. */
  close(): void {
    this.#isClosed = true;
    for (const lease of this.#held) lease.release();
    this.#held.clear();
  }

  /** Combines a lease of the shared budget and one of this budget. */
  #with(shared: Lease | undefined, own: Lease): Lease {
    if (shared === undefined) return own;
    if (this.#isClosed) shared.release();
    else this.#held.add(shared);
    return {
      bytes: own.bytes,
      release: () => {
        own.release();
        shared.release();
        this.#held.delete(shared);
      },
    };
  }

  async #admitted(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    throwIfAborted(signal);
    if (bytes > this.limit) {
      throw new ZarrflowError("budget-too-small", "a task does not fit the memory budget", {
        neededBytes: bytes,
        expected: `at most ${this.limit} bytes`,
        found: `${bytes} bytes`,
      });
    }
    if (this.#waiting.length > 0 || this.#leased + bytes > this.limit) await this.#wait(bytes, signal);
    else this.#grant(bytes);
  }

  #wait(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(abortError(signal?.reason));
        this.#admit();
      };
      const waiter: Waiter = {
        bytes,
        admit: () => {
          stopListening();
          this.#grant(bytes);
          resolve();
        },
      };
      const stopListening = onAbort(signal, leave);
      this.#waiting.push(waiter);
    });
  }

  #grant(bytes: number): void {
    this.#leased += bytes;
    this.#peak = Math.max(this.#peak, this.#leased);
  }

  #lease(bytes: number): Lease {
    let held = true;
    return {
      bytes,
      release: () => {
        if (!held) return;
        held = false;
        this.#leased -= bytes;
        this.#admit();
      },
    };
  }

  #admit(): void {
    for (
      let first = this.#waiting[0];
      first && this.#leased + first.bytes <= this.limit;
      first = this.#waiting[0]
    ) {
      this.#waiting.shift();
      first.admit();
    }
  }
}

/** Bytes that all buffers of a flow may take together unless the caller sets a budget. */
export const DEFAULT_MAX_MEMORY = 256e6;

/** Bytes that the option `maxMemory` allows. */
export function memoryLimit({
  maxMemory = DEFAULT_MAX_MEMORY,
}: {
  readonly maxMemory?: number | string | undefined;
}): number {
  return parseBytes(maxMemory);
}
