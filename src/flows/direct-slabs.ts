import { mostStoredBytes } from "../codecs/limits.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import { openStore, specOf } from "../stores/url.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { type ChunkPlace, type ChunkRef, type EncodedChunk, isSharded } from "../streams/chunk.ts";
import { chunkDecoder } from "../streams/decode-chunks.ts";
import { partRefs } from "../streams/part-refs.ts";
import { chunkReader, readChunks } from "../streams/read-chunks.ts";
import { selectionWithin } from "../streams/selection.ts";
import { lookingUp } from "./executors/look-up.ts";
import { chunksOf } from "./selected-chunks.ts";
import type { SlabChunks, SlabReading } from "./slab-reading.ts";

/** What a call that blocks may take, and each MiB that it reads. */
const CALL_MS = 1;
const MIB_MS = 2;
/** When calls have taken so much longer, it is a disk or a network that is waited for. */
const PATIENCE_MS = 200;

/**
 * Slabs straight from the source. Files are read one after the other, by calls that block, as long as they answer at
 * once; of those that do not, and of all other stores, several values are asked for at one time.
 */
export async function directSlabs(reading: SlabReading): Promise<SlabChunks> {
  const { array, pipeline, selection, plan, buffers, io, signal } = reading;
  const { readAhead, bytesPerChunk } = plan;
  const maxEncodedSize = mostStoredBytes(pipeline);
  const inFlight = { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk };
  const options = { concurrency: Math.min(io, readAhead), inFlight, maxEncodedSize, buffers, signal };
  const files = await filesOf(array);
  const atOnce = files && readsAtOnce(files, { maxEncodedSize, buffers, signal });
  const decode = chunkDecoder(array, { buffers });
  async function* decoded(refs: Generator<ChunkRef>) {
    if (atOnce) for await (const chunk of atOnce(refs)) yield await decode(chunk);
    for await (const chunk of readChunks(array, refs, options)) yield await decode(chunk);
  }
  return (_, region) => {
    const part = selectionWithin(selection, region);
    return { chunks: decoded(partRefs(chunksOf(array, part), part, pipeline)), part };
  };
}

/** The files in which the chunks lie, each in one of its own, read by calls that block; undefined where they are none. */
async function filesOf(array: ZarrArray): Promise<ChunkPlace | undefined> {
  const spec = specOf(array.store);
  if (spec?.kind !== "directory" || isSharded(array)) return undefined;
  const { blockingFileCalls } = await import("../stores/file-calls.ts");
  const store = await openStore(spec, { files: blockingFileCalls });
  return { store, path: array.path, chunkKey: (coords) => array.chunkKey(coords) };
}

/** Reads one chunk after the other, and leaves to others those that are left when that has become slow. */
function readsAtOnce(
  files: ChunkPlace,
  { signal, ...options }: NonNullable<Parameters<typeof chunkReader>[1]>,
): (refs: Iterator<ChunkRef>) => AsyncGenerator<EncodedChunk> {
  const read = chunkReader(files, options);
  const lookUp = lookingUp();
  let late = 0;
  return async function* (refs) {
    while (late < PATIENCE_MS) {
      const { done, value: ref } = refs.next();
      if (done) return;
      const others = lookUp();
      if (others) await others;
      signal?.throwIfAborted();
      const began = performance.now();
      const chunk = await read(ref, { signal });
      const allowed = CALL_MS + ((chunk.bytes?.length ?? 0) / 2 ** 20) * MIB_MS;
      late = Math.max(0, late + performance.now() - began - allowed);
      yield chunk;
    }
  };
}
