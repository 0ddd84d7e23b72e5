import type { KeyEntry, Store, WritableStore } from "../../stores/store.ts";
import type { Buffers } from "../../util/buffers.ts";
import { crc32 } from "../../util/crc32.ts";
import type { RunLog } from "../run/run-log.ts";
import { processSync, readInto } from "./sync-fast-path.ts";

/** A value to copy, and its key in the target. */
export interface KeyToCopy extends KeyEntry {
  readonly targetKey: string;
}

export interface SmallCopyOptions {
  readonly source: Store;
  readonly target: WritableStore;
  /** Larger values are passed on. */
  readonly smallBytes: number;
  /** True if the ledger has no checksums. */
  readonly skipChecksum: boolean;
  readonly buffers: Buffers;
  readonly log: RunLog;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies values one by one while both stores answer without waiting. Yields the rest: large values, and those that
 * could not be copied this way for any reason.
 */
export async function* copySmallValues(
  pages: AsyncIterable<readonly KeyToCopy[]>,
  options: SmallCopyOptions,
): AsyncGenerator<KeyToCopy> {
  const { source, target, smallBytes, buffers, signal } = options;
  if (smallBytes === 0 || !source.getSync || !target.setSync) {
    for await (const page of pages) yield* page;
    return;
  }
  const buffer = buffers.take(smallBytes);
  try {
    yield* processSync(pages, (value) => copySmallValue(value, buffer, options), signal);
  } finally {
    buffers.give(buffer);
  }
}

/** Size of a value that was copied; undefined if it was not, which leaves nothing to undo. */
function copySmallValue(
  { key, size: listed, targetKey }: KeyToCopy,
  buffer: Uint8Array,
  { source, target, skipChecksum, log }: SmallCopyOptions,
): number | undefined {
  if (listed !== undefined && listed > buffer.length) return undefined;
  const bytes = readInto(source, key, buffer);
  if (bytes === undefined || (listed !== undefined && bytes.length !== listed)) return undefined;
  if (!target.setSync?.(targetKey, bytes)) return undefined;
  log.keyCopied(targetKey, bytes.length, skipChecksum ? undefined : crc32(bytes));
  return bytes.length;
}
