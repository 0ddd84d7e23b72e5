import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { faultFinding, type ValidateFinding } from "./finding.ts";
import type { StoredChunk } from "./stored-keys.ts";

/** Reads and decodes chunks to see whether they can be, within a memory budget. */
export function decodeCheck(
  maxMemory: number,
): (chunk: StoredChunk, context: { signal: AbortSignal }) => Promise<ValidateFinding | undefined> {
  const budget = new ByteBudget(maxMemory);
  const buffers = new BufferPool(maxMemory);
  return async ({ array, key, size }, { signal }) => {
    try {
      const pipeline = await array.pipeline();
      const { decodedSize, scratchSize, maxEncodedSize } = pipeline;
      const lease = await budget.acquire(Math.max(size, maxEncodedSize) + decodedSize + scratchSize, signal);
      try {
        const allocate = (byteLength: number) => buffers.take(byteLength);
        const bytes = await array.store.get(key, { allocate, signal });
        if (bytes) buffers.give((await pipeline.decode(bytes, buffers)).bytes);
      } finally {
        lease.release();
      }
      return undefined;
    } catch (error) {
      if (isZarrflowError(error, "unsupported-codec")) return undefined;
      return { ...faultFinding(error, "broken-chunk", array.path), key };
    }
  };
}
