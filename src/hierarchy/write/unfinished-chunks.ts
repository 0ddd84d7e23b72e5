import type { CodecPipeline } from "../../codecs/codec.ts";
import { isFixed } from "../../meta/data-type.ts";
import { assertBudget } from "../../streams/budget-too-small.ts";
import { ByteBudget, type Lease } from "../../streams/byte-budget.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { decodeFootprint } from "../../streams/decode-chunks.ts";
import { DEFAULT_MAX_MEMORY } from "../../streams/default-memory.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { chunksIn, type RegridTarget } from "../../streams/regrid.ts";
import { chunkRegion, countShared } from "../../streams/selection.ts";
import type { Buffers } from "../../util/buffers.ts";
import { addPiece, beginDraft, type ChunkDraft, type WrittenArray, writeDrafts } from "./chunk-draft.ts";

type Target = RegridTarget & WrittenArray;

/** A chunk that waits for items. */
interface Waiting {
  readonly draft: ChunkDraft;
  readonly lease: Lease;
  /** How many it was put together from. */
  pieces: number;
}

/** Boxes of items that a chunk may lack: each piece is compared with all of them. */
const MOST_BOXES = 512;

/** Pieces with items of varying size that a chunk may hold. */
const MOST_PIECES = 512;

export interface UnfinishedOptions {
  /** Requests in flight. */
  readonly concurrency: number;
  readonly writeEmpty: boolean;
  readonly buffers: Buffers;
  /** Bytes that chunks take while they wait and while they are written; 256 MB by default, or what one chunk needs. */
  readonly maxMemory?: number | undefined;
}

interface WritePieceOptions {
  readonly signal: AbortSignal;
  /** Whether the piece is given for good, so that its data may become a chunk's; if not, they are looked at until `onTaken`. */
  readonly isOwned: boolean;
  readonly onTaken: () => void;
}

/**
 * The chunks of a new array that have some of their items: they wait in memory for the others, so that each is encoded
 * and stored once, in whatever parts it comes. Where the memory is full, the one that nothing was added to for the longest
 * is stored as it is, and read back when more of it comes; so is one of very many parts, and one of items of varying size of
 * which an item is written again.
 */
export class UnfinishedChunks {
  readonly #target: Target;
  readonly #options: UnfinishedOptions;
  /** By key; those that were added to last are the last. */
  readonly #waiting = new Map<string, Waiting>();
  /** Given where the store cannot be read back. */
  readonly #storedKeys: Set<string> | undefined;
  readonly #budget: ByteBudget;
  readonly #writing: ByteBudget;
  readonly #draftBytes: number;
  readonly #writeBytes: number;
  /** One part is taken apart at a time: two that wait for memory could wait for each other's chunks. */
  #turn: Promise<void> = Promise.resolve();

  /** @throws `budget-too-small` */
  constructor(target: Target, pipeline: CodecPipeline, options: UnfinishedOptions) {
    this.#target = target;
    this.#options = options;
    this.#storedKeys = target.store.singleWriter ? new Set() : undefined;
    this.#draftBytes = pooledSize(pipeline.decodedSize);
    this.#writeBytes = decodeFootprint(pipeline);
    const least = this.#draftBytes + this.#writeBytes;
    const { concurrency, maxMemory = Math.max(DEFAULT_MAX_MEMORY, least) } = options;
    assertBudget(least, maxMemory, target.path);
    const writes = Math.min(concurrency, Math.max(1, Math.floor(maxMemory / 2 / this.#writeBytes)));
    this.#writing = new ByteBudget(writes * this.#writeBytes);
    this.#budget = new ByteBudget(maxMemory - this.#writing.limit);
  }

  /** Takes a piece of the array, and stores the chunks that are whole with it. */
  async write(piece: DecodedChunk, options: WritePieceOptions): Promise<void> {
    await this.#store(this.#taken(piece, options), options.signal);
  }

  /** Stores all that wait; what they lack is the fill value, or what is stored. */
  async flush(signal: AbortSignal): Promise<void> {
    await this.#store(this.#oldest(), signal);
  }

  async #store(drafts: Iterable<ChunkDraft> | AsyncIterable<ChunkDraft>, signal: AbortSignal): Promise<void> {
    const admit = async (stop: AbortSignal) => {
      const lease = await this.#writing.acquire(this.#writeBytes, stop);
      return () => lease.release();
    };
    await writeDrafts(this.#target, drafts, {
      ...this.#options,
      signal,
      admit,
      storedKeys: this.#storedKeys,
    });
  }

  *#oldest(): Generator<ChunkDraft> {
    for (const [key, waiting] of this.#waiting) yield this.#leave(key, waiting);
  }

  async *#taken(
    piece: DecodedChunk,
    { signal, isOwned, onTaken }: WritePieceOptions,
  ): AsyncGenerator<ChunkDraft> {
    const before = this.#turn;
    let pass = () => {};
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    await before;
    const { chunk, shape } = this.#target;
    const { buffers } = this.#options;
    try {
      for (const coords of chunksIn(piece.region, chunk.shape)) {
        const key = this.#target.chunkKey(coords);
        const region = chunkRegion(coords, chunk.shape, shape);
        const known = this.#waiting.get(key);
        if (known && !this.#canTake(known, piece, region)) yield this.#leave(key, known);
        let waiting = this.#waiting.get(key);
        if (!waiting) {
          let lease = this.#budget.acquireNow(this.#draftBytes);
          if (!lease) {
            const [oldest] = this.#waiting;
            if (oldest) yield this.#leave(...oldest);
            lease = await this.#budget.acquire(this.#draftBytes, signal);
          }
          if (isOwned && this.#isChunk(piece, region)) {
            yield this.#leave(key, { draft: draftOf(piece, coords), lease, pieces: 1 });
            return;
          }
          waiting = { draft: beginDraft(this.#target, coords, buffers), lease, pieces: 0 };
        }
        addPiece(waiting.draft, piece);
        waiting.pieces++;
        this.#waiting.delete(key);
        this.#waiting.set(key, waiting);
        if (waiting.draft.missing.length === 0) yield this.#leave(key, waiting);
      }
      if (isOwned) {
        if (piece.data) buffers.give(piece.data.bytes);
        piece.release?.();
      }
    } finally {
      onTaken();
      pass();
    }
  }

  /** Ends a chunk's wait: it is stored, whole or not. */
  #leave(key: string, { draft, lease }: Waiting): ChunkDraft {
    this.#waiting.delete(key);
    const release = () => {
      lease.release();
      draft.ref.release?.();
    };
    return { ...draft, ref: { ...draft.ref, release } };
  }

  /** Whether a piece is just one chunk, in the layout that its codecs want. */
  #isChunk({ region, data }: DecodedChunk, chunk: Region): boolean {
    if (!isSame(region, chunk)) return false;
    if (data === undefined) return true;
    const { chunk: spec, strides } = this.#target;
    const isLaidOut = data.kind !== "fixed" || `${data.strides}` === `${strides}`;
    return isLaidOut && `${data.shape}` === `${spec.shape}`;
  }

  /**
   * Whether a chunk can take one more piece: the array has not grown since it began, the list of what is missing is short,
   * and, where each piece takes memory of its own until the chunk is put together, these are few and have no item in common.
   */
  #canTake({ draft, pieces }: Waiting, piece: DecodedChunk, region: Region): boolean {
    const { ref, missing } = draft;
    if (!isSame(ref.region, region)) return false;
    if (!this.#storedKeys && missing.length > MOST_BOXES) return false;
    if (isFixed(this.#target.chunk.dataType)) return true;
    const isNew = missing.reduce((sum, box) => sum + countShared(box, piece.region), 0);
    return (
      isNew === countShared(region, piece.region) && (this.#storedKeys !== undefined || pieces < MOST_PIECES)
    );
  }
}

/** A piece that is one chunk, with nothing to copy. */
function draftOf({ data, region, release }: DecodedChunk, coords: readonly number[]): ChunkDraft {
  const assembly = { add: () => {}, finish: () => data };
  return { ref: { index: 0, coords, region, ...(release && { release }) }, assembly, missing: [] };
}

function isSame(a: Region, b: Region): boolean {
  return a.start.every((from, d) => from === b.start[d]) && a.shape.every((n, d) => n === b.shape[d]);
}
