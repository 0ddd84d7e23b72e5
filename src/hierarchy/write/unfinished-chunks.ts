import type { CodecPipeline } from "../../codecs/codec.ts";
import { isFixed } from "../../meta/data-type.ts";
import { assertBudget } from "../../streams/budget-too-small.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import { ByteBudget, DEFAULT_MAX_MEMORY, type Lease } from "../../streams/byte-budget.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { decodeFootprint } from "../../streams/decode-chunks.ts";
import { chunksIn, type RegridTarget } from "../../streams/regrid.ts";
import { chunkRegion, countShared } from "../../streams/selection.ts";
import type { Buffers } from "../../util/bytes.ts";
import { addPiece, beginDraft, type ChunkDraft, type WrittenArray, writeDrafts } from "./chunk-draft.ts";

type Target = RegridTarget & WrittenArray;

/** An incomplete chunk. */
interface Waiting {
  readonly draft: ChunkDraft;
  readonly lease: Lease;
  /** Number of pieces added to it. */
  pieces: number;
}

/** Maximum number of missing boxes of a chunk: each piece is compared with all of them. */
const MOST_BOXES = 512;

/** Maximum number of pieces of a chunk with items of varying size. */
const MOST_PIECES = 512;

export interface UnfinishedOptions {
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly writeEmptyChunks: boolean;
  readonly buffers: Buffers;
  /**
   * Maximum number of bytes of chunks that wait or are being written; 256 MB by default, or more if one chunk needs it.
   */
  readonly maxMemory?: number | undefined;
}

interface WritePieceOptions {
  readonly signal: AbortSignal;
  /**
   * True if ownership of the piece is transferred, so that its data may become those of a chunk; otherwise they are
   * only read until `onTaken`.
   */
  readonly isOwned: boolean;
  readonly onTaken: () => void;
}

/**
 * The incomplete chunks of a new array. They wait in memory for the rest of their items, so that each is encoded and
 * stored once, whatever parts it arrives in. A chunk is stored early, and read back when more items arrive, in three
 * cases: memory is full and the chunk is the least recently changed one; it has too many parts; or it has items of
 * varying size and one of them is written again.
 */
export class UnfinishedChunks {
  readonly #target: Target;
  readonly #options: UnfinishedOptions;
  /** By key, the most recently changed last. */
  readonly #waiting = new Map<string, Waiting>();
  /** Keys stored so far; only for stores that cannot be read back. */
  readonly #storedKeys: Set<string> | undefined;
  readonly #budget: ByteBudget;
  readonly #writing: ByteBudget;
  readonly #draftBytes: number;
  readonly #writeBytes: number;
  /**
   * Promise of the previous part. Parts are split one at a time: two that wait for memory could wait for each other's
   * chunks.
   */
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

  /** Adds a piece of the array, and stores the chunks that it completes. */
  async write(piece: DecodedChunk, options: WritePieceOptions): Promise<void> {
    await this.#store(this.#taken(piece, options), options.signal);
  }

  /** Stores all waiting chunks; missing items become the fill value or keep the stored values. */
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

  /** Removes a chunk from the waiting ones, to be stored, complete or not. */
  #leave(key: string, { draft, lease }: Waiting): ChunkDraft {
    this.#waiting.delete(key);
    const release = () => {
      lease.release();
      draft.ref.release?.();
    };
    return { ...draft, ref: { ...draft.ref, release } };
  }

  /** True if a piece is exactly one chunk, in the layout that its codecs expect. */
  #isChunk({ region, data }: DecodedChunk, chunk: Region): boolean {
    if (!isSame(region, chunk)) return false;
    if (data === undefined) return true;
    const { chunk: spec, strides } = this.#target;
    const isLaidOut = data.kind !== "fixed" || `${data.strides}` === `${strides}`;
    return isLaidOut && `${data.shape}` === `${spec.shape}`;
  }

  /**
   * Returns true if a chunk can take one more piece: the array has not grown since the chunk began, and the list of
   * missing boxes is short. For items of varying size, each piece occupies memory until the chunk is assembled; there
   * they must also be few and must not overlap.
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

/** A chunk that consists of one piece, without copying. */
function draftOf({ data, region, release }: DecodedChunk, coords: readonly number[]): ChunkDraft {
  const assembly = { add: () => {}, finish: () => data };
  return { ref: { index: 0, coords, region, ...(release && { release }) }, assembly, missing: [] };
}

function isSame(a: Region, b: Region): boolean {
  return a.start.every((from, d) => from === b.start[d]) && a.shape.every((n, d) => n === b.shape[d]);
}
