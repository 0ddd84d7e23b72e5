import { maxStoredSize } from "../../codecs/limits.ts";
import type { DataType } from "../../meta/data-type.ts";
import type { DataTypeName } from "../../meta/data-type-name.ts";
import type { Store, WritableStore } from "../../stores/store.ts";
import type { Assembly } from "../../streams/assemble.ts";
import type { ChunkCodec, ChunkRef, ChunkStore, DecodedChunk, Region } from "../../streams/chunk.ts";
import { chunkReader } from "../../streams/chunk-reader.ts";
import { chunkDecoder } from "../../streams/decode-chunks.ts";
import { encodeChunks } from "../../streams/encode-chunks.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { decodedChunks, type ReadableArray } from "../../streams/read-chunks.ts";
import { beginAssembly, type RegridTarget, regrid } from "../../streams/regrid.ts";
import {
  chunkRegion,
  intersect,
  type Selection,
  selectionOf,
  wholeSelection,
} from "../../streams/selection.ts";
import { writeChunks } from "../../streams/write-chunks.ts";
import { untilAborted } from "../../util/abort.ts";
import { type Buffers, plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { invalidOption, isObject } from "../../util/options.ts";
import { product } from "../../util/shape.ts";
import { ReadableStream, streamFrom, TransformStream } from "../../util/web-streams.ts";
import { chunkDataOf, countItems, type Values } from "./values.ts";

/** An array whose chunks are written. */
export type WrittenArray = ChunkStore<WritableStore> & ChunkCodec;

/** A chunk that is being assembled from parts of the array. */
export interface ChunkDraft {
  readonly ref: ChunkRef;
  readonly assembly: Pick<Assembly, "add" | "finish">;
  /** Boxes of the chunk's region that no part has covered yet. */
  missing: readonly Region[];
}

/** Starts the chunk at `coords` of a grid. */
export function beginDraft(grid: RegridTarget, coords: readonly number[], buffers: Buffers): ChunkDraft {
  const region = chunkRegion(coords, grid.chunk.shape, grid.shape);
  const selection = wholeSelection(grid.shape);
  const assembly = beginAssembly(grid, region, { selection, buffers });
  return { ref: { index: 0, coords, region }, assembly, missing: [region] };
}

/** Copies the items that a chunk shares with a piece, without taking ownership of the piece. */
export function addPiece(draft: ChunkDraft, piece: DecodedChunk): void {
  const part = intersect(piece.region, draft.ref.region);
  if (!part) return;
  draft.assembly.add(piece, part);
  draft.missing = draft.missing.flatMap((box) => {
    const shared = intersect(part, box);
    return shared ? [...boxesAround(shared, box)] : [box];
  });
}

/** Boxes that cover `outer` except for `inner`, which is inside it. */
function* boxesAround(inner: Region, outer: Region): Generator<Region> {
  let { start, shape } = outer;
  for (let d = 0; d < start.length; d++) {
    const from = start[d] ?? 0;
    const first = inner.start[d] ?? 0;
    const count = inner.shape[d] ?? 0;
    const end = from + (shape[d] ?? 0);
    if (first > from) yield { start, shape: shape.with(d, first - from) };
    if (first + count < end) {
      yield { start: start.with(d, first + count), shape: shape.with(d, end - first - count) };
    }
    start = start.with(d, first);
    shape = shape.with(d, count);
  }
}

export interface WriteDraftsOptions {
  /** Maximum number of requests in flight; 16 by default. */
  readonly concurrency?: number;
  readonly writeEmptyChunks?: boolean;
  readonly buffers?: Buffers;
  readonly signal?: AbortSignal | undefined;
  /** Waits for memory to write one more chunk. Returns a function that releases it. */
  readonly admit?: (signal: AbortSignal) => Promise<() => void>;
  /** Keys stored so far, if the store contains nothing else; without it, any key may already have a chunk. */
  readonly storedKeys?: Set<string> | undefined;
}

/**
 * Writes chunks; their missing items keep the stored values. Concurrent calls on one store keep each other's changes.
 *
 * @throws `unsupported-operation` if missing items cannot be read back; whatever the store throws, with path, coords
 *   and key.
 */
export async function writeDrafts(
  target: WrittenArray,
  drafts: Iterable<ChunkDraft> | AsyncIterable<ChunkDraft>,
  {
    concurrency = 16,
    writeEmptyChunks = false,
    buffers = plainBuffers,
    signal,
    admit,
    storedKeys,
  }: WriteDraftsOptions,
): Promise<void> {
  const turns = new KeyMutex(target.store);
  const held = new Set<() => void>();

  const finish = async (draft: ChunkDraft, context: { signal: AbortSignal }): Promise<DecodedChunk> => {
    const { ref, assembly, missing } = draft;
    const key = target.chunkKey(ref.coords);
    const ends = [ref.release];
    const release = () => {
      held.delete(release);
      for (const end of ends.splice(0)) end?.();
    };
    held.add(release);
    // memory first: a holder of the turn at a key must be able to continue
    ends.push(await admit?.(context.signal));
    ends.push(await turns.take(key));
    if (missing.length > 0) {
      const isEmpty = storedKeys !== undefined && !storedKeys.has(key);
      const rest = isEmpty
        ? { ...ref, data: undefined }
        : await readStored(target, ref, buffers, context.signal);
      for (const box of missing) assembly.add(rest, box);
      if (rest.data) buffers.give(rest.data.bytes);
    }
    return { ...ref, data: assembly.finish(), release };
  };

  const storing = storedKeys && {
    checksums: false,
    onStored: ({ key }: { readonly key: string }) => void storedKeys.add(key),
  };
  try {
    await streamFrom(drafts)
      .pipeThrough(mapConcurrent(finish, { concurrency, signal }))
      .pipeThrough(encodeChunks(target, { buffers, writeEmptyChunks }))
      .pipeTo(writeChunks(target, { buffers, concurrency, removeMissing: true, signal, ...storing }));
  } finally {
    for (const release of held) release();
    turns.endAll();
  }
}

async function readStored(
  target: WrittenArray,
  ref: ChunkRef,
  buffers: Buffers,
  signal: AbortSignal,
): Promise<DecodedChunk> {
  if (target.store.singleWriter) throw cannotReadBack(target, ref);
  const maxEncodedSize = maxStoredSize(await target.pipeline());
  const read = chunkReader(target, { buffers, maxEncodedSize });
  const decode = chunkDecoder(target, { buffers });
  return decode(await read(ref, { signal }));
}

function cannotReadBack({ store, path }: WrittenArray, { coords }: ChunkRef): ZarrflowError {
  return new ZarrflowError(
    "unsupported-operation",
    "the store cannot read back a stored chunk to change it",
    {
      store: store.description,
      path,
      coords,
      hint: "Write each item once, in regions of whole chunks or regions that fit `maxMemory`.",
    },
  );
}

/** The last promise in the queue of each key, by store. */
const lines = new WeakMap<Store, Map<string, Promise<void>>>();

/**
 * The turns of one writer at keys of a store. Reading, changing and rewriting a chunk needs a turn, so that no other
 * writer in this process changes the chunk in the meantime.
 */
export class KeyMutex {
  readonly #line: Map<string, Promise<void>>;
  readonly #taken = new Set<() => void>();
  #isOver = false;

  constructor(store: Store) {
    this.#line = lines.get(store) ?? new Map();
    lines.set(store, this.#line);
  }

  /** Waits for the turn at `key`. Returns a function that ends it. */
  async take(key: string): Promise<() => void> {
    const before = this.#line.get(key);
    let pass = () => {};
    const turn = new Promise<void>((resolve) => {
      pass = resolve;
    });
    this.#line.set(key, turn);
    const end = () => {
      this.#taken.delete(end);
      if (this.#line.get(key) === turn) this.#line.delete(key);
      pass();
    };
    await before;
    this.#taken.add(end);
    if (!this.#isOver) return end;
    end();
    throw new ZarrflowError("aborted", "the write was aborted before it started", { key });
  }

  /** Ends all turns, including those still in the queue. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#taken) end();
  }
}

/** Any number of frames, each with the values of one or more items of an array's first dimension. */
export type Frames<Name extends DataTypeName = DataTypeName> =
  | Iterable<Values<Name>>
  | AsyncIterable<Values<Name>>
  | ReadableStream<Values<Name>>;

/** An array that grows along its first dimension, such as any `ArrayWriter`. */
export interface GrowingArray {
  readonly path: string;
  readonly shape: readonly number[];
  readonly metadata: { readonly dataType: DataType };
  /** Extends the first dimension to `length` items, if it is shorter. */
  grow(length: number): void;
}

/**
 * Places frames one after another along an array's first dimension, after its existing items. Each becomes a chunk with
 * its region, for `regrid` with `growing`. A frame contains the values of one or more items of that dimension, complete
 * in all others, and must not change afterwards. The array grows by all frames when the stream ends.
 *
 * @throws `invalid-option` for a frame of another type, or with part of an item.
 */
export function placeFrames(array: GrowingArray): TransformStream<Values, DecodedChunk> {
  const isGrowing = isObject(array) && isObject(array.metadata) && Array.isArray(array.shape);
  if (!isGrowing) throw invalidOption("this array cannot grow", "an ArrayWriter", array);
  const { dataType } = array.metadata;
  const [start, ...frameShape] = array.shape;
  const frameItems = product(frameShape);
  if (start === undefined || frameItems === 0) {
    throw new ZarrflowError("invalid-option", "frames need an array with at least one dimension", {
      path: array.path,
      found: array.shape.join(" x ") || "a scalar",
    });
  }
  let end = start;
  let index = 0;
  return new TransformStream<Values, DecodedChunk>({
    transform(values, controller) {
      const rows = countItems(values, dataType) / frameItems;
      if (!Number.isInteger(rows)) throw partOfFrame(array, rows * frameItems, frameItems);
      if (rows === 0) return;
      const region = { start: [end, ...frameShape.map(() => 0)], shape: [rows, ...frameShape] };
      const data = chunkDataOf(values, { dataType, shape: region.shape });
      controller.enqueue({ index: index++, coords: region.start, region, data });
      end += rows;
    },
    flush() {
      array.grow(end);
    },
  });
}

function partOfFrame({ path }: GrowingArray, found: number, frameItems: number): ZarrflowError {
  return new ZarrflowError("invalid-option", "a frame is incomplete", {
    path,
    expected: `a multiple of ${frameItems} items`,
    found: `${found} items`,
  });
}

interface AppendOptions {
  readonly concurrency: number;
  readonly writeEmptyChunks: boolean;
  readonly buffers: Buffers;
  readonly signal: AbortSignal;
}

type FrameTarget = GrowingArray & RegridTarget & ReadableArray & { readonly store: WritableStore };

/** Appends frames to an array, one row of chunks after another. */
export async function appendFrames(
  array: FrameTarget,
  frames: Frames,
  { concurrency, writeEmptyChunks, buffers, signal }: AppendOptions,
): Promise<void> {
  const begun = beginOfLastRow(array);
  const pieces = streamOf(frames).pipeThrough(placeFrames(array));
  const { readable, writable } = regrid(array, { growing: true, buffers });
  const written = readable
    .pipeThrough(encodeChunks(array, { buffers, writeEmptyChunks }))
    .pipeTo(writeChunks(array, { buffers, concurrency, removeMissing: true, signal }), { signal });
  const feed = async () => {
    const stored = untilAborted(decodedChunks(array, begun, { buffers, signal }), signal);
    await streamFrom(stored).pipeTo(writable, { preventClose: true, signal });
    await pieces.pipeTo(writable, { signal });
  };
  for (const end of await Promise.allSettled([feed(), written])) {
    if (end.status === "rejected") throw end.reason;
  }
}

/** The items of a last row of chunks that is incomplete. */
function beginOfLastRow({ shape, chunk, store, path }: FrameTarget): Selection {
  const [rows = 0, ...others] = shape;
  const begun = rows % (chunk.shape[0] ?? 1);
  const row = { start: [rows - begun, ...others.map(() => 0)], shape: [begun, ...others] };
  if (product(row.shape) > 0 && store.singleWriter) {
    throw new ZarrflowError(
      "unsupported-operation",
      "the last chunks are already written and cannot be changed",
      {
        store: store.description,
        path,
        hint: `Append all frames in one call, or a multiple of ${chunk.shape[0]} frames per call.`,
      },
    );
  }
  return selectionOf(row);
}

/** Pulls from `frames`. Canceling does not wait for a frame that is still pending. */
function streamOf(frames: Frames): ReadableStream<Values> {
  const source = (frames instanceof ReadableStream ? frames : streamFrom(frames)).getReader();
  return new ReadableStream<Values>(
    {
      async pull(controller) {
        const { done, value } = await source.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel(reason) {
        source.cancel(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}
