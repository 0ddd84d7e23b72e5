import { maxStoredSize } from "../../codecs/limits.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import {
  type ChunkRef,
  type ChunkStore,
  type DecodedChunk,
  decodedChunk,
  type EncodedChunk,
  isSharded,
} from "../../streams/chunk.ts";
import { chunkDecoder } from "../../streams/decode-chunks.ts";
import { narrowRefs } from "../../streams/narrow-refs.ts";
import { type ChunkReader, chunkReader, readChunks } from "../../streams/read-chunks.ts";
import type { ReadChunksOptions } from "../../streams/read-options.ts";
import { selectionWithin } from "../../streams/selection.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { indexOf } from "../../util/shape.ts";
import { yieldToEventLoop } from "../run/executors/yield-to-event-loop.ts";
import { chunksOf } from "./selected-chunks.ts";
import type { SlabChunks, SlabReading } from "./slab-reader.ts";
import { MissingChunks, type StoredChunks } from "./stored-chunks.ts";

/** What a call that blocks may take, and each MiB that it reads. */
const CALL_MS = 1;
const MIB_MS = 2;
/** When calls have taken so much longer, it is a disk or a network that is waited for. */
const PATIENCE_MS = 200;
/** Chunks that are asked for together, where it is known which are stored. */
const PRESENT_AT_ONCE = 1000;

/**
 * Slabs straight from the source. Files are read one after the other, by calls that block, as long as they answer at
 * once; of those that do not, and of all other stores, several values are asked for at one time. Where many chunks are
 * missing, those that are stored are listed, and no other is asked for.
 */
export async function directSlabs(reading: SlabReading): Promise<SlabChunks> {
  const { array, pipeline, selection, plan, buffers, io, signal } = reading;
  const { readAhead, bytesPerChunk } = plan;
  const maxEncodedSize = maxStoredSize(pipeline);
  const inFlight = { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk };
  const options = { concurrency: Math.min(io, readAhead), inFlight, maxEncodedSize, buffers, signal };
  const { blocking } = reading;
  const place = { path: array.path, chunkKey: (coords: readonly number[]) => array.chunkKey(coords) };
  const files =
    blocking && !isSharded(array)
      ? new QuickFiles({ ...place, store: blocking }, { maxEncodedSize, buffers, signal })
      : undefined;
  const decode = chunkDecoder(array, { buffers });
  const missing = new MissingChunks(reading);
  const lookUp = yieldToEventLoop();
  const slabGrid = gridShape(selection.shape, plan.slabShape);

  async function* decoded(refs: Generator<ChunkRef>) {
    while (files?.isQuick && !missing.stored) {
      const { done, value: ref } = refs.next();
      if (done) return;
      const chunk = await files.read(ref);
      const listing = missing.note(chunk.bytes !== undefined);
      if (listing) await listing;
      yield await decode(chunk);
    }
    for await (const chunk of readChunks(array, unlessListed(refs, missing), options)) {
      const listing = missing.note(chunk.bytes !== undefined);
      if (listing) await listing;
      yield await decode(chunk);
    }
    const { stored } = missing;
    if (stored) yield* decodedOf(stored, refs);
  }
  /** Asks for those alone that are stored, some at one time; what is missing between them is one piece. */
  async function* decodedOf({ keys }: StoredChunks, refs: Iterable<ChunkRef>) {
    await lookUp();
    signal.throwIfAborted();
    let present: ChunkRef[] = [];
    let gap: DecodedChunk | undefined;
    for (const ref of refs) {
      const isPresent = keys.has(array.chunkKey(ref.coords));
      const longer = isPresent ? undefined : gap && joined(gap, ref);
      if (gap && !longer) yield gap;
      gap = isPresent ? undefined : (longer ?? decodedChunk(ref, undefined));
      if (isPresent) present.push(ref);
      if (present.length === PRESENT_AT_ONCE) {
        for await (const chunk of readChunks(array, present, options)) yield await decode(chunk);
        present = [];
      }
      const others = lookUp();
      if (others) await others;
    }
    if (gap) yield gap;
    for await (const chunk of readChunks(array, present, options)) yield await decode(chunk);
  }
  return (coords, region) => {
    const part = selectionWithin(selection, region);
    const { stored } = missing;
    if (stored && !stored.slabs.has(indexOf(coords, slabGrid)))
      return { chunks: decodedOf(stored, []), part };
    return { chunks: decoded(narrowRefs(chunksOf(array, part), part, pipeline)), part };
  };
}

/** A missing piece with the missing chunk that follows it along the last dimension; undefined where none does. */
function joined(piece: DecodedChunk, { region }: ChunkRef): DecodedChunk | undefined {
  const { start, shape } = piece.region;
  const last = start.length - 1;
  for (let d = 0; d < last; d++) {
    if (start[d] !== region.start[d] || shape[d] !== region.shape[d]) return undefined;
  }
  const length = shape[last] ?? 0;
  if (last < 0 || (start[last] ?? 0) + length !== region.start[last]) return undefined;
  return { ...piece, region: { start, shape: shape.with(last, length + (region.shape[last] ?? 0)) } };
}

/** `refs` until it is known which of them are stored; the rest is left in them. */
function* unlessListed(refs: Generator<ChunkRef>, missing: MissingChunks): Generator<ChunkRef> {
  while (!missing.stored) {
    const { done, value } = refs.next();
    if (done) return;
    yield value;
  }
}

/** Reads chunks one after the other, by calls that block, and notices when that becomes slow. */
class QuickFiles {
  readonly #read: ChunkReader;
  readonly #signal: AbortSignal;
  readonly #lookUp = yieldToEventLoop();
  /** Milliseconds that calls took longer than they may, less those that they took shorter. */
  #late = 0;

  constructor(
    files: ChunkStore,
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
    throwIfAborted(signal);
    const began = performance.now();
    const chunk = await this.#read(ref, { signal });
    const allowed = CALL_MS + ((chunk.bytes?.length ?? 0) / 2 ** 20) * MIB_MS;
    this.#late = Math.max(0, this.#late + performance.now() - began - allowed);
    return chunk;
  }
}
