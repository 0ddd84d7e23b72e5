import type { ListableStore, WritableStore } from "../stores/store.ts";
import type { ByteBudget } from "../streams/byte-budget.ts";
import { mapConcurrent } from "../streams/map-concurrent.ts";
import { TransformStream, WritableStream } from "../streams/web.ts";
import type { Buffers } from "../util/buffers.ts";
import { crc32 } from "../util/crc32.ts";
import { isZarrflowError } from "../util/errors.ts";
import { copyValue, PIECE_BYTES } from "./copy-value.ts";
import type { RunLog } from "./run-log.ts";

export interface SweepOptions {
  /** Path of the source node whose keys are swept. */
  readonly sourcePath: string;
  readonly targetPath: string;
  /** Whether a key is left to others: a document, or a chunk of an array with tasks. */
  readonly isLeft: (key: string) => boolean;
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly io: number;
  readonly log: RunLog;
  readonly signal?: AbortSignal | undefined;
}

/** Copies every key of the source's listing that nobody else writes, byte for byte; keys are never all in memory. */
export async function sweep(
  source: ListableStore,
  target: WritableStore,
  options: SweepOptions,
): Promise<void> {
  const { sourcePath, targetPath, isLeft, budget, buffers, io, log, signal } = options;
  const prefix = sourcePath === "" ? "" : `${sourcePath}/`;
  const targetPrefix = targetPath === "" ? "" : `${targetPath}/`;

  const copy = async (
    { key, size: listed }: { key: string; size?: number },
    context: { signal: AbortSignal },
  ) => {
    const size = listed ?? (await source.size(key, context));
    if (size === undefined) return;
    const targetKey = targetPrefix + key.slice(prefix.length);
    const lease = await budget.acquire(Math.min(size, PIECE_BYTES), context.signal);
    let checksum = 0;
    try {
      const onPiece = (bytes: Uint8Array) => {
        checksum = crc32(bytes, checksum);
      };
      await copyValue(
        { store: source, key },
        { store: target, key: targetKey },
        { size, buffers, signal: context.signal, onPiece },
      );
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ key });
      throw error;
    } finally {
      lease.release();
    }
    log.keyCopied(targetKey, size, checksum);
  };
  const wanted = new TransformStream<{ key: string; size?: number }, { key: string; size?: number }>({
    transform(listed, controller) {
      if (!isLeft(listed.key)) controller.enqueue(listed);
    },
  });
  await source
    .list(prefix, { signal })
    .pipeThrough(wanted)
    .pipeThrough(mapConcurrent(copy, { concurrency: io, signal }))
    .pipeTo(new WritableStream<void>());
}
