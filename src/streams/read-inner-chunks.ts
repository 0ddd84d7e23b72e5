import { corrupt } from "../codecs/failures.ts";
import { plainBuffers } from "../util/buffers.ts";
import { isZarrflowError } from "../util/errors.ts";
import { BufferScope } from "./buffer-scope.ts";
import type { ChunkRef, EncodedChunk, ShardedPlace } from "./chunk.ts";
import {
  type ChunkRequest,
  flatten,
  inChunk,
  type LocatedChunk,
  locateChunk,
  locateChunks,
} from "./locate-chunks.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import type { ReadChunksOptions } from "./read-options.ts";
import { together } from "./read-together.ts";
import type { ReadableStream } from "./web.ts";

/** `readChunks` for chunks in shards. */
export function readInnerChunks(
  place: ShardedPlace,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  options: ReadChunksOptions,
): ReadableStream<EncodedChunk> {
  const { buffers = plainBuffers, concurrency = 16, inFlight, maxEncodedSize, onRead, signal } = options;

  const reading = together<LocatedChunk>({
    inFlight,
    isFar: place.store.getSync === undefined,
    bytesOf: ({ range }) => range.length,
  });
  const read = async (request: ChunkRequest, context: { signal: AbortSignal }): Promise<EncodedChunk[]> => {
    const { key, parts, range } = request;
    const count = reading.leases(parts, range?.length ?? 0);
    const leases = (await inFlight?.budget.acquireEach(count, inFlight.bytesPerChunk, context.signal)) ?? [];
    const taken = new BufferScope(buffers);
    try {
      const bytes = await readParts(place, request, taken, context.signal).catch((error: unknown) => {
        if (!isZarrflowError(error, "source-changed") || !mayBeRenewed(place, request)) throw error;
        taken.giveAll();
        return renewed(place, parts, taken, { maxEncodedSize, signal: context.signal });
      });
      for (const more of leases.slice(parts.length)) more.release();
      return parts.map(({ ref }, i) => {
        const lease = leases[i];
        const chunk = { ...ref, key, bytes: bytes[i], ...(lease && { release: lease.release }) };
        onRead?.(chunk);
        return chunk;
      });
    } catch (error) {
      taken.giveAll();
      for (const lease of leases) lease.release();
      throw error;
    }
  };
  const discard = (chunks: readonly EncodedChunk[]) => {
    for (const { bytes, release } of chunks) {
      if (bytes) buffers.give(bytes);
      release?.();
    }
  };
  return locateChunks(place, refs, { fits: reading.fits, maxEncodedSize, signal })
    .pipeThrough(mapConcurrent(read, { concurrency, signal, discard }))
    .pipeThrough(flatten<EncodedChunk>());
}

/**
 * True if the chunks of a request were located by an earlier reading, so that their shard may have been replaced since.
 * Forgets that location.
 */
function mayBeRenewed({ shards }: ShardedPlace, { parts: [first], version }: ChunkRequest): boolean {
  return first !== undefined && shards.forget(first.ref.coords, version);
}

/** Locates each of these chunks of a shard again, and reads it on its own. */
async function renewed(
  place: ShardedPlace,
  parts: readonly LocatedChunk[],
  buffers: BufferScope,
  { signal, ...options }: { readonly signal: AbortSignal; readonly maxEncodedSize: number | undefined },
): Promise<(Uint8Array | undefined)[]> {
  const all: (Uint8Array | undefined)[] = [];
  for (const { ref } of parts) {
    const { key, version, range } = await locateChunk(place, ref, { ...options, signal });
    const request = { key, version, range, parts: range ? [{ ref, range }] : [] };
    all.push((await readParts(place, request, new BufferScope(buffers), signal))[0]);
  }
  return all;
}

/** Reads the bytes of each part of a request into its own buffer, because codecs work in place. */
async function readParts(
  place: ShardedPlace,
  { key, range, version, parts }: ChunkRequest,
  buffers: BufferScope,
  signal: AbortSignal,
): Promise<(Uint8Array | undefined)[]> {
  const [first] = parts;
  if (range === undefined || first === undefined) return parts.map(() => undefined);
  // Called again when the store retries.
  const allocate = (byteLength: number) => {
    buffers.giveAll();
    return buffers.take(byteLength);
  };
  const options = { range, allocate, ifVersion: version, signal };
  const found = (await inChunk(place, first.ref, () => place.store.get(key, options))) ?? new Uint8Array(0);
  place.shards.confirm(first.ref.coords, version);
  if (!buffers.has(found)) buffers.giveAll();
  const bytes: Uint8Array[] = [];
  for (const { ref, range: own } of parts) {
    await inChunk(place, ref, async () => {
      const start = own.offset - range.offset;
      if (start + own.length > found.length)
        throw beyond(own.offset + own.length, range.offset + found.length);
      if (parts.length === 1) bytes.push(found);
      else bytes.push(copyOf(found.subarray(start, start + own.length), buffers));
    });
  }
  if (parts.length > 1) buffers.give(found);
  return bytes;
}

function copyOf(bytes: Uint8Array, buffers: BufferScope): Uint8Array {
  const copy = buffers.take(bytes.length);
  copy.set(bytes);
  return copy;
}

function beyond(end: number, size: number): Error {
  return corrupt("the inner chunk extends beyond its shard", {
    expected: `an end within ${size} bytes`,
    found: `${end}`,
  });
}
