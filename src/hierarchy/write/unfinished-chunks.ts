import type { CodecPipeline } from "../../codecs/codec.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import { ByteBudget, type Lease } from "../../streams/byte-budget.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { decodeFootprint } from "../../streams/decode-chunks.ts";
import { chunksIn, type RegridTarget } from "../../streams/regrid.ts";
import { chunkRegion } from "../../streams/selection.ts";
import type { Buffers } from "../../util/buffers.ts";
import { formatEnoughBytes } from "../../util/byte-size.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { addPiece, beginDraft, type ChunkDraft, type WrittenArray, writeDrafts } from "./chunk-draft.ts";

type Target = RegridTarget & WrittenArray;

/** A chunk that waits for items. */
interface Waiting {
  readonly draft: ChunkDraft;
  readonly lease: Lease;
}

export interface UnfinishedOptions {
  /** Requests in flight. */
  readonly io: number;
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

const DEFAULT_MAX_MEMORY = 256e6;

/**
 * The chunks of a new array that have some of their items: they wait in memory for the others, so that each is encoded
 * and stored once, in whatever parts it comes. Where the memory is full, the one that nothing was added to for the longest
 * is stored as it is, and read back when more of it comes.
 */
export class UnfinishedChunks {
  readonly #target: Target;
  readonly #options: UnfinishedOptions;
  /** By key; those that were added to last are the last. */
  readonly #waiting = new Map<string, Waiting>();
  /** Keys that were stored in a store that cannot read them back. */
  readonly #stored = new Set<string>();
  readonly #budget: ByteBudget;
  readonly #writing: ByteBudget;
  readonly #draftBytes: number;
  readonly #writeBytes: number;
  /** One part is taken apart at a time, so that whoever waits for memory has stored all that could wait no longer. */
  #turn: Promise<void> = Promise.resolve();

  /** @throws `budget-too-small` */
  constructor(target: Target, pipeline: CodecPipeline, options: UnfinishedOptions) {
    this.#target = target;
    this.#options = options;
    this.#draftBytes = pooledSize(pipeline.decodedSize);
    this.#writeBytes = decodeFootprint(pipeline);
    const least = this.#draftBytes + this.#writeBytes;
    const { io, maxMemory = Math.max(DEFAULT_MAX_MEMORY, least) } = options;
    if (maxMemory < least) throw tooSmall(least, maxMemory, target.path);
    const writes = Math.min(io, Math.max(1, Math.floor(maxMemory / 2 / this.#writeBytes)));
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
    await writeDrafts(this.#target, drafts, { ...this.#options, signal, admit });
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
        // the array has grown since
        if (known && !isSame(known.draft.ref.region, region)) yield this.#leave(key, known);
        let waiting = this.#waiting.get(key);
        if (!waiting) {
          let lease = this.#budget.acquireNow(this.#draftBytes);
          for (const [oldKey, old] of lease ? [] : this.#waiting) {
            yield this.#leave(oldKey, old);
            lease = this.#budget.acquireNow(this.#draftBytes);
            if (lease) break;
          }
          lease ??= await this.#budget.acquire(this.#draftBytes, signal);
          if (isOwned && this.#isChunk(piece, region)) {
            yield this.#leave(key, { draft: draftOf(piece, coords), lease });
            return;
          }
          waiting = { draft: beginDraft(this.#target, coords, buffers), lease };
        }
        addPiece(waiting.draft, piece);
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
    const isStored = this.#markStored(key);
    const release = () => {
      lease.release();
      draft.ref.release?.();
    };
    return { ...draft, isStored, ref: { ...draft.ref, release } };
  }

  /** Whether a piece is just one chunk, in the layout that its codecs want. */
  #isChunk({ region, data }: DecodedChunk, chunk: Region): boolean {
    if (!isSame(region, chunk)) return false;
    if (data === undefined) return true;
    const { chunk: spec, strides } = this.#target;
    const isLaidOut = data.kind !== "fixed" || `${data.strides}` === `${strides}`;
    return isLaidOut && `${data.shape}` === `${spec.shape}`;
  }

  /** Whether the chunk may have been stored before. */
  #markStored(key: string): boolean {
    if (!this.#target.store.singleWriter) return true;
    const isStored = this.#stored.has(key);
    this.#stored.add(key);
    return isStored;
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

function tooSmall(needed: number, maxMemory: number, path: string): ZarrflowError {
  return new ZarrflowError("budget-too-small", "no chunk fits the memory budget", {
    path,
    neededBytes: needed,
    expected: `a budget of at least ${needed} bytes (${formatEnoughBytes(needed)})`,
    found: `${maxMemory} bytes`,
    hint: `Allow at least ${formatEnoughBytes(needed)}, or choose smaller chunks.`,
  });
}
