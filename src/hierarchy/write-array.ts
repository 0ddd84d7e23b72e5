import type { ChunkSpec, CodecPipeline } from "../codecs/codec.ts";
import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { describeDataType } from "../meta/describe.ts";
import type { NodeLayout } from "../meta/dialect.ts";
import type { WritableStore } from "../stores/store.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import type { ChunkCoding, ChunkPlace, DecodedChunk, Region } from "../streams/chunk.ts";
import { decodeChunks } from "../streams/decode-chunks.ts";
import { encodeChunks } from "../streams/encode-chunks.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { chunksIn, type RegridTarget, regrid } from "../streams/regrid.ts";
import { chunkRegion } from "../streams/selection.ts";
import { type ReadableStream, streamFrom, type WritableStream } from "../streams/web.ts";
import { writeChunks } from "../streams/write-chunks.ts";
import { asyncDispose } from "../util/async-dispose.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { ArrayDescription } from "./create-metadata.ts";
import { documentsOf } from "./create-metadata.ts";
import type { NodeSite } from "./create-place.ts";
import { deleteKeys } from "./edit-delete.ts";
import { type GrowingArray, placeFrames } from "./write-frames.ts";
import { partsInto } from "./write-parts.ts";
import { type RegionOption, regionOf, writeBox } from "./write-region.ts";
import { chunkDataOf, type Values } from "./write-values.ts";

export interface WriterOptions {
  /** Requests in flight; 16 by default. */
  readonly io?: number;
  /** Stores chunks that hold nothing but the fill value too. */
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A box of an array and its values: what `slice(...).chunks()` gives, and `ArrayWriter.writable` takes. */
export interface ArrayPart {
  readonly region: Region;
  readonly data: Values;
  /** Items of `data` to step for one step along each dimension; C order without gaps by default. */
  readonly stride?: readonly number[];
}

/** The most bytes in buffers that are kept for reuse. */
const POOLED = 256e6;

/**
 * A new array while it is written. Nobody sees it before `close`, and `abort` leaves nothing of it. Values come as
 * regions (`write`), as a stream of parts (`writable`), one after another along the first dimension (`append`), or as
 * chunks: it is the target that `regrid`, `encodeChunks` and `writeChunks` want.
 *
 * Once something of what it was given could not be written, `close` gives the array up and throws that failure.
 */
export class ArrayWriter implements ChunkPlace<WritableStore>, ChunkCoding, RegridTarget, GrowingArray {
  readonly kind = "array";
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  readonly #site: NodeSite;
  readonly #pipeline: CodecPipeline;
  readonly #io: number;
  readonly #writeEmpty: boolean;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #buffers = new BufferPool(POOLED);
  readonly #running = new Set<Promise<void>>();
  #metadata: ArrayMetadata;
  #writable: WritableStream<ArrayPart> | undefined;
  #appended: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;

  constructor(site: NodeSite, { metadata, pipeline }: ArrayDescription, options: WriterOptions) {
    this.store = site.store;
    this.layout = site.layout;
    this.#site = site;
    this.#metadata = metadata;
    this.#pipeline = pipeline;
    this.#io = options.io ?? 16;
    this.#writeEmpty = options.writeEmpty ?? false;
    const { signal } = this.#stop;
    this.#signal = options.signal ? AbortSignal.any([options.signal, signal]) : signal;
  }

  /** Path inside the store that it is made in. */
  get path(): string {
    return this.layout.path;
  }

  get metadata(): ArrayMetadata {
    return this.#metadata;
  }

  /** Items along each dimension, as it is now. */
  get shape(): readonly number[] {
    return this.#metadata.shape;
  }

  /** Items of a chunk along each dimension. */
  get chunkShape(): readonly number[] {
    return this.#metadata.chunkGrid.chunkShape;
  }

  /** Data type in words, such as `float32`. */
  get dataType(): string {
    return describeDataType(this.#metadata.dataType);
  }

  /** What a chunk is, for `regrid`. */
  get chunk(): ChunkSpec {
    return this.#pipeline.spec;
  }

  /** Layout of a chunk that its codecs want, in items. */
  get strides(): readonly number[] {
    return this.#pipeline.strides;
  }

  chunkKey(coords: readonly number[]): string {
    return this.layout.chunkKey(coords, this.#metadata.chunkKeyEncoding);
  }

  async pipeline(): Promise<CodecPipeline> {
    return this.#pipeline;
  }

  /**
   * Writes a region. Chunks that it covers wholly are written without being read; others are read, changed and written
   * back; calls at once do not undo one another. The values are the caller's again when it resolves.
   *
   * @throws `invalid-selection` for a region beyond the array; `invalid-option` for values of another type or number;
   *   `unsupported-operation` for a part of a chunk in a zip, which takes each chunk once.
   */
  async write(region: RegionOption, values: Values): Promise<void> {
    await this.writePart({ region: regionOf(region, this), data: values });
  }

  /** Writes a region whose values may lie in any order and with gaps between them. @throws as `write` */
  async writePart({ region, data, stride }: ArrayPart): Promise<void> {
    const { dataType } = this.#metadata;
    const { shape } = regionOf(region, this);
    const chunkData = chunkDataOf(data, { dataType, shape, stride });
    await this.#run(() => writeBox(this, region, chunkData, this.#stages()));
  }

  /**
   * Takes parts, several at a time, and must be given each part's values for good. Closing it publishes the array, and
   * aborting it, or a part that cannot be written, leaves nothing.
   */
  get writable(): WritableStream<ArrayPart> {
    this.#writable ??= partsInto(this, this.#io);
    return this.#writable;
  }

  /**
   * Appends frames along the first dimension, which becomes as long as they are: each the values of one or more items
   * of it, and not to be changed any more. They may be of any number: the chunks of one row, and those being written,
   * are all that is in memory.
   *
   * @throws `invalid-option` for a frame of another type or of a part of an item; whatever `frames` throws.
   */
  async append(frames: Iterable<Values> | AsyncIterable<Values>): Promise<void> {
    const before = this.#appended;
    this.#appended = this.#run(async () => {
      await before;
      const { buffers, signal } = this.#stages();
      await streamFrom(this.#afterLastRow(streamFrom(frames).pipeThrough(placeFrames(this))))
        .pipeThrough(regrid(this, { growing: true, buffers }))
        .pipeThrough(encodeChunks(this, { buffers, writeEmpty: this.#writeEmpty }))
        .pipeTo(writeChunks(this, { buffers, concurrency: this.#io, removeMissing: true, signal }), {
          signal,
        });
    });
    await this.#appended;
  }

  /** Makes the first dimension `length` items long, if it is shorter; new items read as the fill value. */
  grow(length: number): void {
    const [now, ...others] = this.shape;
    if (now === undefined || !Number.isSafeInteger(length)) {
      throw new ZarrflowError(
        "invalid-option",
        "an array grows along its first dimension, to a whole number",
        {
          path: this.path,
          found: length,
        },
      );
    }
    this.#metadata = { ...this.#metadata, shape: [Math.max(now, length), ...others] };
  }

  /**
   * Waits for what is being written, then publishes the array: its documents are written after all chunks.
   *
   * @throws the first failure of what was to be written, with nothing left behind.
   */
  async close(): Promise<void> {
    this.#demandOpen();
    this.#isOver = true;
    await Promise.allSettled(this.#running);
    try {
      if (this.#failure) throw this.#failure.error;
      this.#signal.throwIfAborted();
      await this.#site.publish(documentsOf(this.#metadata, this.layout), this.#undo);
    } catch (error) {
      await this.#site.discard(this.#undo, error).catch(() => {});
      throw error;
    }
  }

  /** Gives the array up: stops what is being written and removes all of it. Does nothing after `close` or `abort`. */
  async abort(reason?: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const error = reason ?? new ZarrflowError("aborted", "the array was given up", { path: this.path });
    this.#stop.abort(error);
    await Promise.allSettled(this.#running);
    await this.#site.discard(this.#undo, error);
  }

  /** Gives up what was not closed. */
  async [asyncDispose](): Promise<void> {
    await this.abort();
  }

  readonly #undo = (): Promise<void> => deleteKeys(this.store, this.layout, this.#metadata, { io: this.#io });

  /** The chunks that a last row of ragged ones holds already, then `pieces`. */
  async *#afterLastRow(pieces: ReadableStream<DecodedChunk>): AsyncGenerator<DecodedChunk> {
    const [rows = 0, ...others] = this.shape;
    const begun = rows % (this.chunkShape[0] ?? 1);
    const lastRow = { start: [rows - begun, ...others.map(() => 0)], shape: [begun, ...others] };
    const coords = [...chunksIn(lastRow, this.chunkShape)];
    if (coords.length > 0 && this.store.singleWriter) throw this.#cannotGoOn();
    const refs = coords.map((at, index) => ({
      index,
      coords: at,
      region: chunkRegion(at, this.chunkShape, this.shape),
    }));
    const { buffers, signal } = this.#stages();
    yield* readChunks(this, refs, { buffers, signal }).pipeThrough(decodeChunks(this, { buffers }));
    yield* pieces;
  }

  #stages() {
    return { io: this.#io, writeEmpty: this.#writeEmpty, buffers: this.#buffers, signal: this.#signal };
  }

  /** Runs what `close` and `abort` wait for. */
  async #run(work: () => Promise<void>): Promise<void> {
    this.#demandOpen();
    this.#signal.throwIfAborted();
    const running = work().catch((error: unknown) => {
      this.#failure ??= { error };
      throw error;
    });
    this.#running.add(running);
    try {
      await running;
    } finally {
      this.#running.delete(running);
    }
  }

  #demandOpen(): void {
    if (!this.#isOver) return;
    throw new ZarrflowError("unsupported-operation", "the array is published, or was given up", {
      path: this.path,
    });
  }

  #cannotGoOn(): ZarrflowError {
    return new ZarrflowError(
      "unsupported-operation",
      "the last chunks are written, and cannot be read back here",
      {
        store: this.store.description,
        path: this.path,
        hint: `Append all frames in one call, or in calls of whole chunks of ${this.chunkShape[0]}.`,
      },
    );
  }
}
