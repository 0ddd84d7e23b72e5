import type { StoreOptions, WritableStore } from "../../stores/store.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { nextTurn } from "../../util/blocking-io.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ReturnedBuffer, TransferredValue } from "./messages.ts";

/** Values smaller than this are copied into one buffer and sent together. */
const SMALL = 32 * 1024;
/** A batch of small values is sent when it has this many bytes, or when the thread is idle. */
const BATCH = 256 * 1024;

/** Sends values, and their buffers, to the thread that stores them. */
export type SendValues = (values: readonly TransferredValue[], buffers: readonly ArrayBuffer[]) => void;

/**
 * Target of a thread that does not write it: it transfers values to the main thread, large ones with their buffers.
 * `set` resolves when the value is stored.
 */
export class TransferSink implements WritableStore {
  readonly description = "the main thread's target";
  readonly singleWriter = true;
  readonly #sendValues: SendValues;
  readonly #buffers: Pick<BufferPool, "returned">;
  readonly #waiting = new Map<number, (buffer: ArrayBuffer) => void>();
  #batch: TransferredValue[] = [];
  #batchBytes = 0;
  #next = 0;

  /** @param buffers pool of the values' buffers; large ones return to it once they are stored */
  constructor(sendValues: SendValues, buffers: Pick<BufferPool, "returned">) {
    this.#sendValues = sendValues;
    this.#buffers = buffers;
  }

  set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    throwIfAborted(signal);
    const number = this.#next++;
    const stored = new Promise<void>((resolve) => {
      this.#waiting.set(number, (buffer) => {
        this.#buffers.returned(bytes, buffer);
        resolve();
      });
    });
    if (bytes.length >= SMALL) this.#send([{ number, key, bytes }], [bytes.buffer as ArrayBuffer]);
    else {
      this.#batch.push({ number, key, bytes });
      this.#batchBytes += bytes.length;
      if (this.#batchBytes >= BATCH) this.#sendBatch();
      else if (this.#batch.length === 1) void nextTurn().then(() => this.#sendBatch());
    }
    return stored;
  }

  /** Receives the values that the main thread has stored. */
  stored(values: readonly ReturnedBuffer[]): void {
    for (const { number, buffer } of values) {
      this.#waiting.get(number)?.(buffer);
      this.#waiting.delete(number);
    }
  }

  get(): Promise<never> {
    return refuse();
  }

  size(): Promise<never> {
    return refuse();
  }

  openWriter(): Promise<never> {
    return refuse();
  }

  delete(): Promise<never> {
    return refuse();
  }

  #sendBatch(): void {
    if (this.#batch.length === 0) return;
    const joint = new Uint8Array(this.#batchBytes);
    let end = 0;
    const values = this.#batch.map(({ number, key, bytes }) => {
      joint.set(bytes, end);
      end += bytes.length;
      return { number, key, bytes: joint.subarray(end - bytes.length, end) };
    });
    this.#batch = [];
    this.#batchBytes = 0;
    this.#send(values, [joint.buffer]);
  }

  #send(values: readonly TransferredValue[], buffers: readonly ArrayBuffer[]): void {
    this.#sendValues(values, buffers);
  }
}

async function refuse(): Promise<never> {
  throw new ZarrflowError("unsupported-operation", "threads pass on only whole values");
}
