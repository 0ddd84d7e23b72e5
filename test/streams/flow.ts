import type { ChunkSpec } from "../../src/codecs/codec.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import type { ChunkRef } from "../../src/streams/chunk.ts";
import { decodeChunks } from "../../src/streams/decode-chunks.ts";
import { encodeChunks } from "../../src/streams/encode-chunks.ts";
import { readChunks } from "../../src/streams/read-chunks.ts";
import { regrid } from "../../src/streams/regrid.ts";
import { writeChunks } from "../../src/streams/write-chunks.ts";
import { type Buffers, plainBuffers } from "../../src/util/buffers.ts";
import { coordsOf, indexOf } from "../../src/util/shape.ts";
import { codingOf, placeIn, rawPipeline, refsOf, TestStore } from "./support.ts";

export const SHAPE = [128, 128];
export const SOURCE_CHUNK = [64, 16];
export const TARGET_CHUNK = [16, 64];
/** All chunks hold 1024 items of 4 bytes: exactly a buffer of the pool. */
export const CHUNK_BYTES = 4096;

export const spec = (shape: readonly number[]): ChunkSpec => ({
  shape,
  dataType: { kind: "uint", size: 4 },
  fillValue: new Uint8Array(4),
});

/** Item `i` of the array, in C order. */
const valueAt = (i: number) => i * 2654435761 + 1;

function itemsOfChunk({ region }: ChunkRef, shape: readonly number[]): Uint8Array {
  const items = new Uint32Array(1024);
  for (const coords of coordsOf(region.shape)) {
    const place = coords.map((c, d) => c + (region.start[d] ?? 0));
    items[indexOf(coords, shape)] = valueAt(indexOf(place, SHAPE));
  }
  return new Uint8Array(items.buffer);
}

/** A store that holds the array in its source chunks. */
export function sourceStore(): TestStore {
  const store = new TestStore();
  const { chunkKey } = placeIn(store, "from");
  for (const ref of refsOf(SHAPE, SOURCE_CHUNK))
    store.values.set(chunkKey(ref.coords), itemsOfChunk(ref, SOURCE_CHUNK));
  return store;
}

/** What the target store must hold in the end. */
export function expectedValues(): Record<string, Uint8Array> {
  const { chunkKey } = placeIn(new TestStore(), "to");
  return Object.fromEntries(
    refsOf(SHAPE, TARGET_CHUNK).map((ref) => [chunkKey(ref.coords), itemsOfChunk(ref, TARGET_CHUNK)]),
  );
}

export interface Flow {
  readonly from: TestStore;
  readonly to: TestStore;
  readonly refs?: readonly ChunkRef[];
  readonly window?: ChunkRef["region"];
  readonly buffers?: Buffers;
  readonly readAhead?: number;
  readonly signal?: AbortSignal;
}

const source = codingOf(rawPipeline(spec(SOURCE_CHUNK)), "from");
const target = codingOf(rawPipeline(spec(TARGET_CHUNK)), "to");

/** The stages of a flow, not yet connected. */
export function stagesOf({ from, to, refs, window, buffers = plainBuffers, readAhead = 4, signal }: Flow) {
  const bytesPerChunk = 2 * CHUNK_BYTES;
  return {
    read: readChunks(placeIn(from, "from"), refs ?? refsOf(SHAPE, SOURCE_CHUNK), {
      concurrency: readAhead,
      inFlight: { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk },
      buffers,
      signal,
    }),
    decode: decodeChunks(source, { buffers }),
    regrid: regrid({ shape: SHAPE, chunk: spec(TARGET_CHUNK) }, { buffers, ...(window && { window }) }),
    encode: encodeChunks(target, { buffers }),
    write: writeChunks(placeIn(to, "to"), { buffers, signal }),
  };
}

export function runFlow(flow: Flow): Promise<void> {
  const { read, decode, regrid: cut, encode, write } = stagesOf(flow);
  const encoded = read.pipeThrough(decode).pipeThrough(cut).pipeThrough(encode);
  return encoded.pipeTo(write, flow.signal && { signal: flow.signal });
}

/** Rows of target chunks, each with the source chunks that it needs: what a planner would make tasks of. */
export function tasks() {
  return Array.from({ length: SHAPE[0] as number }, (_, row) => row)
    .filter((row) => row % (TARGET_CHUNK[0] as number) === 0)
    .map((row) => ({
      window: { start: [row, 0], shape: [TARGET_CHUNK[0] as number, SHAPE[1] as number] },
      refs: refsOf(SHAPE, SOURCE_CHUNK).filter(
        ({ coords }) => coords[0] === Math.floor(row / (SOURCE_CHUNK[0] as number)),
      ),
    }));
}
