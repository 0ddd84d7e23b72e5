import type { Store, WritableStore } from "../../stores/store.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { BlockingIo } from "../../util/blocking-io.ts";
import type { Buffers } from "../../util/buffers.ts";
import { crc32 } from "../../util/crc32.ts";
import type { RunLog } from "../run/run-log.ts";
import type { KeyToCopy } from "./copy-small-values.ts";
import { readInto } from "./sync-fast-path.ts";

export interface CopyReadOptions {
  readonly source: Store;
  readonly target: WritableStore;
  /** Larger values are left to the caller. */
  readonly mostBytes: number;
  /** True if the ledger has no checksums. */
  readonly skipChecksum: boolean;
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly log: RunLog;
}

/**
 * Copies values from a source that can be read synchronously to a target that cannot be written synchronously. One
 * blocking read replaces four asynchronous calls.
 */
export class SyncCopier {
  readonly #options: CopyReadOptions;
  /** Assumed size of values whose size is not listed: the largest seen so far. */
  #likely = 0;
  readonly #concurrency = new BlockingIo();

  constructor(options: CopyReadOptions) {
    this.#options = options;
  }

  /** Notes the size of a value; others may have the same. */
  noteSize(size: number): void {
    if (size <= this.#options.mostBytes) this.#likely = Math.max(this.#likely, size);
  }

  /**
   * Copies a value if it can. Returns false if it has written nothing.
   *
   * @throws what the target throws; `aborted`.
   */
  async copy({ key, size: listed, targetKey }: KeyToCopy, signal: AbortSignal): Promise<boolean> {
    const { source, target, mostBytes, skipChecksum, budget, buffers, log } = this.#options;
    const most = listed ?? this.#likely;
    if (!source.getSync || target.setSync || most === 0 || most > mostBytes || this.#concurrency.isSlow)
      return false;
    const lease = await budget.acquire(pooledSize(most), signal);
    const buffer = buffers.take(most);
    try {
      const bytes = this.#concurrency.attempt(
        (into) => readInto(source, key, into),
        buffer,
        ({ length }) => length,
      );
      if (bytes === undefined || bytes.length !== (listed ?? bytes.length)) return false;
      const checksum = skipChecksum ? undefined : crc32(bytes);
      await target.set(targetKey, bytes, { signal });
      log.keyCopied(targetKey, bytes.length, checksum);
      return true;
    } finally {
      buffers.give(buffer);
      lease.release();
    }
  }
}
