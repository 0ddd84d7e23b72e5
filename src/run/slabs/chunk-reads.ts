import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { itemsOf, type Task } from "../../plan/task.ts";
import { isListable } from "../../stores/store.ts";
import { folderInPlace } from "../../stores/version.ts";
import { type ChunkRef, type EncodedChunk, encodedChunk } from "../../streams/chunk.ts";
import { chunkReader, type ReadChunksOptions, syncChunkReader } from "../../streams/chunk-reader.ts";
import { readChunks } from "../../streams/read-chunks.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { chunkRegion, type Selection, selectedRegions, selectionWithin } from "../../streams/selection.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { type Awaitable, visitEach } from "../../util/awaitable.ts";
import { BlockingIo } from "../../util/blocking-io.ts";
import { indexOf } from "../../util/shape.ts";
import { streamFrom } from "../../util/web-streams.ts";
import type { ReadTaskChunks } from "../tasks.ts";

/** Number of chunks requested in one batch once the stored ones are known. */
const PRESENT_AT_ONCE = 1000;

/**
 * Reads the chunks of slabs. Files are read one by one with blocking calls as long as the storage responds immediately;
 * slow files, and all other stores, are read concurrently. If many chunks are missing, the stored ones are listed and
 * only those are requested.
 */
export class ChunkReads {
  readonly #array: ZarrArray;
  readonly #missing: ChunkPresence;
  readonly #storage = new BlockingIo();

  constructor(array: ZarrArray, missing: ChunkPresence) {
    this.#array = array;
    this.#missing = missing;
  }

  /**
   * Reads the chunks of a task that makes a slab. Once stored chunks are listed, adjacent missing chunks become one
   * piece.
   */
  readonly read: ReadTaskChunks = (task, refs, options) => {
    const { stored } = this.#missing;
    // a selection that wraps around a cyclic dimension is not a single region of the source
    if (stored && !stored.slabs.has(task.number) && task.job.selection.cycle === undefined) {
      return { stream: () => streamFrom(noneOf(task)), each: (visit) => visitEach(noneOf(task), visit) };
    }
    const left = new Remaining(refs);
    return {
      stream: () => streamFrom(this.#several(left, options)),
      each: (visit) => this.#oneByOne(left, options, visit),
    };
  };

  /** Reads several chunks concurrently, until the stored ones are listed or single reads are better. */
  async *#several(
    left: Remaining,
    options: ReadChunksOptions,
    isBetterByOne = () => false,
  ): AsyncGenerator<EncodedChunk> {
    const missing = this.#missing;
    function* asked() {
      for (const ref of left) {
        yield ref;
        if (missing.stored || isBetterByOne()) return;
      }
    }
    while (!missing.stored) {
      for await (const chunk of readChunks(this.#array, asked(), options)) {
        const listing = missing.note(chunk.bytes !== undefined);
        if (listing) await listing;
        yield chunk;
      }
      if (left.isOver || isBetterByOne()) return;
    }
    yield* this.#readStored(missing.stored, left, options);
  }

  /** Reads with blocking calls, as long as the storage responds immediately. */
  async #oneByOne(
    left: Remaining,
    options: ReadChunksOptions,
    visit: (chunk: EncodedChunk) => Awaitable<void>,
  ): Promise<void> {
    const missing = this.#missing;
    const storage = this.#storage;
    const { signal, onRead } = options;
    const readSync = syncChunkReader(this.#array, options);
    if (readSync === undefined) return visitEach(this.#several(left, options), visit);
    const read = chunkReader(this.#array, { ...options, inFlight: undefined });
    while (!left.isOver) {
      if (missing.stored || storage.isSlow) {
        await visitEach(
          this.#several(left, options, () => !storage.isSlow),
          visit,
        );
        continue;
      }
      const ref = left.next();
      if (ref === undefined) return;
      const others = storage.yield();
      if (others) await others;
      throwIfAborted(signal);
      const found = storage.attempt(readSync, ref, storedBytes);
      if (found) onRead?.(found);
      const chunk = found ?? (await read(ref, { signal }));
      const listing = missing.note(chunk.bytes !== undefined);
      if (listing) await listing;
      await visit(chunk);
    }
  }

  /** Reads only stored chunks, several concurrently. */
  async *#readStored(
    { keys }: StoredChunks,
    refs: Iterable<ChunkRef>,
    options: ReadChunksOptions,
  ): AsyncGenerator<EncodedChunk> {
    const storage = this.#storage;
    await storage.yield();
    throwIfAborted(options.signal);
    let present: ChunkRef[] = [];
    let gap: ChunkRef | undefined;
    for (const ref of refs) {
      const isPresent = keys.has(this.#array.chunkKey(ref.coords));
      const longer = isPresent ? undefined : gap && joined(gap, ref);
      if (gap && !longer) yield encodedChunk(gap, undefined);
      gap = isPresent ? undefined : (longer ?? { ...ref, part: undefined });
      if (isPresent) present.push(ref);
      if (present.length === PRESENT_AT_ONCE) {
        yield* readChunks(this.#array, present, options);
        present = [];
      }
      const others = storage.yield();
      if (others) await others;
    }
    if (gap) yield encodedChunk(gap, undefined);
    yield* readChunks(this.#array, present, options);
  }
}

/** Chunks that nobody has requested yet. */
class Remaining implements Iterable<ChunkRef> {
  readonly #refs: Iterator<ChunkRef>;
  #isOver = false;

  constructor(refs: Iterable<ChunkRef>) {
    this.#refs = refs[Symbol.iterator]();
  }

  /** True once the iterator has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  next(): ChunkRef | undefined {
    const { done, value } = this.#refs.next();
    this.#isOver ||= done === true;
    return done ? undefined : value;
  }

  *[Symbol.iterator](): Generator<ChunkRef> {
    for (let ref = this.next(); ref !== undefined; ref = this.next()) yield ref;
  }
}

const storedBytes = ({ bytes }: EncodedChunk) => bytes?.length ?? 0;

/** All source items of a slab without stored chunks, as one missing piece. */
async function* noneOf(task: Task): AsyncGenerator<EncodedChunk> {
  const { start, step, shape } = selectionWithin(task.job.selection, itemsOf(task));
  const region = { start, shape: shape.map((n, d) => (n - 1) * (step[d] ?? 1) + 1) };
  yield encodedChunk({ index: 0, coords: start, region }, undefined);
}

/** Merges a missing piece with the next missing chunk along the last dimension; undefined if they are not adjacent. */
function joined(piece: ChunkRef, { region }: ChunkRef): ChunkRef | undefined {
  const { start, shape } = piece.region;
  const last = start.length - 1;
  for (let d = 0; d < last; d++) {
    if (start[d] !== region.start[d] || shape[d] !== region.shape[d]) return undefined;
  }
  const length = shape[last] ?? 0;
  if (last < 0 || (start[last] ?? 0) + length !== region.start[last]) return undefined;
  return { ...piece, region: { start, shape: shape.with(last, length + (region.shape[last] ?? 0)) } };
}

/** Number of consecutive missing chunks after which the stored ones are listed. */
const MISSING_BEFORE_LISTING = 1000;
/** Maximum number of keys to remember. If more chunks are stored, each chunk is requested. */
const MAX_KEYS = 100_000;

/** Part of an array that is read in slabs. */
export interface SlabbedArray {
  readonly array: ZarrArray;
  readonly selection: Selection;
  readonly slabShape: readonly number[];
  readonly signal: AbortSignal;
}

/** Keys of the stored chunks of an array, and the slabs of a reading that contain any of them. */
export interface StoredChunks {
  readonly keys: ReadonlySet<string>;
  readonly slabs: ReadonlySet<number>;
}

/**
 * Lists the stored chunks of a reading after many consecutive missing ones, so that the time does not depend on the
 * size of the grid.
 */
export class ChunkPresence {
  readonly #reading: SlabbedArray;
  #inRow = 0;
  #isListed = false;
  #stored: StoredChunks | undefined;

  constructor(reading: SlabbedArray) {
    this.#reading = reading;
  }

  /** The stored chunks; undefined while they are not known and each chunk must be requested. */
  get stored(): StoredChunks | undefined {
    return this.#stored;
  }

  /** Notes that a requested chunk is stored or missing. @returns a promise of the listing, if it starts now. */
  note(isStored: boolean): Promise<void> | undefined {
    this.#inRow = isStored ? 0 : this.#inRow + 1;
    return this.#inRow < MISSING_BEFORE_LISTING || this.#isListed ? undefined : this.#list();
  }

  async #list(): Promise<void> {
    this.#isListed = true;
    this.#stored = await listStored(this.#reading);
  }
}

/** Undefined if the store cannot list, if it has too many chunks, or if shards are nested. */
async function listStored({
  array,
  selection,
  slabShape,
  signal,
}: SlabbedArray): Promise<StoredChunks | undefined> {
  const { store, layout, metadata, shards } = array;
  if (!isListable(store) || shards?.isNested) return undefined;
  const { shape, chunkGrid, chunkKeyEncoding } = metadata;
  const valueShape = chunkGrid.chunkShape.map((n, d) => n * (shards?.chunksPerShard[d] ?? 1));
  const grid = gridShape(shape, valueShape);
  const slabGrid = gridShape(selection.shape, slabShape);
  const keys = new Set<string>();
  const slabs = new Set<number>();
  const coordsOf = (key: string) => layout.parseChunkKey(key, shape.length, chunkKeyEncoding);
  const onFolder = (prefix: string) => {
    const key = prefix.slice(0, -1);
    if (coordsOf(key)?.every((at, d) => at < (grid[d] ?? 0)))
      throw folderInPlace().addContext({ path: array.path, key });
  };
  for await (const { key } of store.list(layout.chunksPrefix, { signal, onFolder })) {
    const coords = coordsOf(key);
    if (coords === undefined) continue;
    if (keys.size === MAX_KEYS) return undefined;
    keys.add(key);
    for (const region of selectedRegions(selection, chunkRegion(coords, valueShape, shape)))
      for (const slab of chunksIn(region, slabShape)) slabs.add(indexOf(slab, slabGrid));
  }
  store.noteMissing?.(layout.chunksPrefix);
  return { keys, slabs };
}
