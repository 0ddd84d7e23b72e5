import type { ListableStore, Listed, WritableStore } from "../stores/store.ts";
import type { ByteBudget } from "../streams/byte-budget.ts";
import { mapConcurrent } from "../streams/map-concurrent.ts";
import { TransformStream, WritableStream } from "../streams/web.ts";
import type { Buffers } from "../util/buffers.ts";
import { crc32 } from "../util/crc32.ts";
import { isZarrflowError } from "../util/errors.ts";
import { copyMemory, copyValue } from "./copy-value.ts";
import { pieceBytesWithin } from "./read-pieces.ts";
import type { RunLog } from "./run-log.ts";

export interface SweepOptions {
  /** Keys that begin with it are swept. */
  readonly prefix: string;
  /** The key under which a source key is copied; undefined for one that is left to others. */
  readonly targetKeyOf: (key: string) => string | undefined;
  readonly budget: ByteBudget;
  readonly buffers: Buffers;
  readonly io: number;
  /** Bytes that a writer of the target holds while it is open. */
  readonly writerBytes: number;
  readonly log: RunLog;
  readonly signal?: AbortSignal | undefined;
}

interface Swept extends Listed {
  readonly targetKey: string;
}

/** Copies every key of the source's listing that nobody else writes, byte for byte; keys are never all in memory. */
export async function sweep(
  source: ListableStore,
  target: WritableStore,
  options: SweepOptions,
): Promise<void> {
  const { prefix, targetKeyOf, budget, buffers, io, writerBytes, log, signal } = options;
  const pieceBytes = pieceBytesWithin(budget.limit - writerBytes);

  const copy = async ({ key, size: listed, targetKey }: Swept, context: { signal: AbortSignal }) => {
    const size = listed ?? (await source.size(key, context));
    if (size === undefined) return;
    const lease = await budget.acquire(copyMemory(size, pieceBytes, writerBytes), context.signal);
    let checksum = 0;
    try {
      const onPiece = (bytes: Uint8Array) => {
        checksum = crc32(bytes, checksum);
      };
      await copyValue(
        { store: source, key },
        { store: target, key: targetKey },
        { size, pieceBytes, buffers, signal: context.signal, onPiece },
      );
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ key });
      throw error;
    } finally {
      lease.release();
    }
    log.keyCopied(targetKey, size, checksum);
  };
  const wanted = new TransformStream<Listed, Swept>({
    transform(listed, controller) {
      const targetKey = targetKeyOf(listed.key);
      if (targetKey !== undefined) controller.enqueue({ ...listed, targetKey });
    },
  });
  await source
    .list(prefix, { signal })
    .pipeThrough(wanted)
    .pipeThrough(mapConcurrent(copy, { concurrency: io, signal }))
    .pipeTo(new WritableStream<void>());
}
