import { maxStoredSize } from "../../codecs/limits.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { type ChunkRef, type DecodedChunk, decodedChunk, type EncodedChunk } from "../../streams/chunk.ts";
import { chunkDecoder } from "../../streams/decode-chunks.ts";
import { narrowRefs } from "../../streams/narrow-refs.ts";
import { chunkReader, readChunks, syncChunkReader } from "../../streams/read-chunks.ts";
import { selectionWithin } from "../../streams/selection.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { BlockingIo } from "../../util/blocking-io.ts";
import { indexOf } from "../../util/shape.ts";
import { chunksOf } from "./selected-chunks.ts";
import type { SlabChunks, SlabReading } from "./slab-reader.ts";
import { MissingChunks, type StoredChunks } from "./stored-chunks.ts";

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
  const read = chunkReader(array, { maxEncodedSize, buffers });
  const readSync = syncChunkReader(array, { maxEncodedSize, buffers });
  const storage = new BlockingIo();
  const decode = chunkDecoder(array, { buffers });
  const missing = new MissingChunks(reading);
  const slabGrid = gridShape(selection.shape, plan.slabShape);

  async function* decoded(refs: Generator<ChunkRef>) {
    let isOver = false;
    const next = () => {
      const { done, value } = refs.next();
      if (done) isOver = true;
      return value;
    };
    const mayBlock = () => readSync !== undefined && !storage.isSlow;
    function* whileSlow() {
      while (!mayBlock() && !missing.stored) {
        const ref = next();
        if (ref === undefined) return;
        yield ref;
      }
    }
    while (!isOver && !missing.stored) {
      if (!readSync || storage.isSlow) {
        for await (const chunk of readChunks(array, whileSlow(), options)) {
          const listing = missing.note(chunk.bytes !== undefined);
          if (listing) await listing;
          yield await decode(chunk);
        }
        continue;
      }
      const ref = next();
      if (ref === undefined) return;
      const others = storage.yield();
      if (others) await others;
      throwIfAborted(signal);
      const found = storage.attempt(readSync, ref, storedBytes);
      const chunk = found ?? (await read(ref, { signal }));
      const listing = missing.note(chunk.bytes !== undefined);
      if (listing) await listing;
      yield await decode(chunk);
    }
    const { stored } = missing;
    if (stored) yield* decodedOf(stored, refs);
  }
  /** Asks for those alone that are stored, some at one time; what is missing between them is one piece. */
  async function* decodedOf({ keys }: StoredChunks, refs: Iterable<ChunkRef>) {
    await storage.yield();
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
      const others = storage.yield();
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

const storedBytes = ({ bytes }: EncodedChunk) => bytes?.length ?? 0;
