import type { EncodedChunk } from "../streams/chunk.ts";
import type { StoredValue } from "../streams/shard-output.ts";
import { crc32 } from "../util/crc32.ts";
import type { FlowEvent, Progress, RunCounts } from "./events.ts";
import type { Ledger } from "./ledger.ts";

const PROGRESS_INTERVAL_MS = 100;

/** Counts what a run does, enters it in the ledger, and tells about it now and then. */
export class RunLog {
  readonly ledger: Ledger;
  readonly #onEvent: (event: FlowEvent) => void;
  readonly #bufferBytes: () => number;
  readonly #counts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 0, bytesWritten: 0 };
  #keys = 0;
  #told = 0;

  /** @param bufferBytes tells the bytes that are in buffers now */
  constructor(
    ledger: Ledger,
    bufferBytes: () => number,
    onEvent: ((event: FlowEvent) => void) | undefined = () => {},
  ) {
    this.ledger = ledger;
    this.#bufferBytes = bufferBytes;
    this.#onEvent = onEvent;
  }

  get counts(): RunCounts {
    return { ...this.#counts };
  }

  get progress(): Progress {
    return { ...this.#counts, bufferBytes: this.#bufferBytes() };
  }

  get keys(): number {
    return this.#keys;
  }

  emit(event: FlowEvent): void {
    this.#onEvent(event);
  }

  /** Notes that a task begins. Returns what notes its end. */
  taskStarted(task: number): (bytes: number) => void {
    const started = performance.now();
    this.emit({ type: "task-start", task });
    return (bytes) => {
      this.#counts.tasks++;
      this.emit({ type: "task-end", task, bytes, ms: performance.now() - started });
      this.#tell();
    };
  }

  chunkRead({ bytes }: EncodedChunk): void {
    this.#counts.chunksRead++;
    this.#counts.bytesRead += bytes?.length ?? 0;
    this.#tell();
  }

  chunkWritten(): void {
    this.#counts.chunksWritten++;
    this.#tell();
  }

  /** A value that a task stored: a chunk, or a shard of them. */
  valueStored(value: StoredValue, task: number): void {
    this.#enter({ task, ...value });
  }

  /** A key that was copied as it is, outside any task. */
  keyCopied(key: string, size: number, checksum: number): void {
    this.#counts.chunksRead++;
    this.#counts.chunksWritten++;
    this.#counts.bytesRead += size;
    this.#enter({ key, size, crc32: checksum });
    this.#tell();
  }

  documentWritten(key: string, bytes: Uint8Array): void {
    this.#enter({ key, size: bytes.length, crc32: crc32(bytes) });
  }

  #enter(entry: Parameters<Ledger["record"]>[0]): void {
    this.#counts.bytesWritten += entry.size;
    this.#keys++;
    this.ledger.record(entry);
  }

  keysVerified(keys: number): void {
    this.#nowAndThen(() => ({ type: "verify", keys, allKeys: this.#keys }));
  }

  #tell(): void {
    this.#nowAndThen(() => ({ type: "progress", progress: this.progress }));
  }

  #nowAndThen(event: () => FlowEvent): void {
    const now = Date.now();
    if (now - this.#told < PROGRESS_INTERVAL_MS) return;
    this.#told = now;
    this.emit(event());
  }
}
