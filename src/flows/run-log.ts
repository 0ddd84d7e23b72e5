import type { EncodedChunk } from "../streams/chunk.ts";
import { crc32 } from "../util/crc32.ts";
import type { FlowEvent, Progress } from "./events.ts";
import type { Ledger } from "./ledger.ts";

const PROGRESS_INTERVAL_MS = 100;

/** Counts what a run does, enters it in the ledger, and tells about it now and then. */
export class RunLog {
  readonly ledger: Ledger;
  readonly #onEvent: (event: FlowEvent) => void;
  readonly #counts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 0, bytesWritten: 0 };
  #keys = 0;
  #told = 0;

  constructor(ledger: Ledger, onEvent: (event: FlowEvent) => void = () => {}) {
    this.ledger = ledger;
    this.#onEvent = onEvent;
  }

  get progress(): Progress {
    return { ...this.#counts };
  }

  get keys(): number {
    return this.#keys;
  }

  emit(event: FlowEvent): void {
    this.#onEvent(event);
  }

  taskDone(): void {
    this.#counts.tasks++;
    this.#tell();
  }

  chunkRead({ bytes }: EncodedChunk): void {
    this.#counts.chunksRead++;
    this.#counts.bytesRead += bytes?.length ?? 0;
    this.#tell();
  }

  chunkWritten({ bytes, key }: EncodedChunk & { readonly key: string }, task: number): void {
    this.#counts.chunksWritten++;
    if (bytes) this.#enter({ task, key, size: bytes.length, crc32: crc32(bytes) });
    this.#tell();
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

  #tell(): void {
    const now = Date.now();
    if (now - this.#told < PROGRESS_INTERVAL_MS) return;
    this.#told = now;
    this.#onEvent({ type: "progress", progress: this.progress });
  }
}
