import { mostStoredBytes } from "../codecs/limits.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import { openStore, specOf } from "../stores/url.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { type ChunkPlace, type ChunkRef, type EncodedChunk, isSharded } from "../streams/chunk.ts";
import { chunkDecoder } from "../streams/decode-chunks.ts";
import { partRefs } from "../streams/part-refs.ts";
import { type ChunkReader, chunkReader, readChunks } from "../streams/read-chunks.ts";
import type { ReadChunksOptions } from "../streams/read-options.ts";
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
  const place = await filesOf(array);
  const files = place && new QuickFiles(place, { maxEncodedSize, buffers, signal });
  const decode = chunkDecoder(array, { buffers });
  async function* decoded(refs: Generator<ChunkRef>) {
    while (files?.isQuick) {
      const { done, value: ref } = refs.next();
      if (done) return;
      yield await decode(await files.read(ref));
    }
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

/** Reads chunks one after the other, by calls that block, and notices when that becomes slow. */
class QuickFiles {
  readonly #read: ChunkReader;
  readonly #signal: AbortSignal;
  readonly #lookUp = lookingUp();
  /** Milliseconds that calls took longer than they may, less those that they took shorter. */
  #late = 0;

  constructor(
    files: ChunkPlace,
    { signal, ...options }: Pick<ReadChunksOptions, "maxEncodedSize" | "buffers"> & { signal: AbortSignal },
  ) {
    this.#read = chunkReader(files, options);
    this.#signal = signal;
  }

  get isQuick(): boolean {
    return this.#late < PATIENCE_MS;
  }

  async read(ref: ChunkRef): Promise<EncodedChunk> {
    const signal = this.#signal;
    const others = this.#lookUp();
    if (others) await others;
    signal.throwIfAborted();
    const began = performance.now();
    const chunk = await this.#read(ref, { signal });
    const allowed = CALL_MS + ((chunk.bytes?.length ?? 0) / 2 ** 20) * MIB_MS;
    this.#late = Math.max(0, this.#late + performance.now() - began - allowed);
    return chunk;
  }
}
