import { createPipeline } from "../../codecs/chain/codec-chain.ts";
import { type ChunkSpec, type CodecPipeline, chunkSpecOf } from "../../codecs/codec.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import type { DataType } from "../../meta/data-type.ts";
import { type DataTypeName, describeDataType } from "../../meta/data-type-name.ts";
import type { DataTypeOption, NameOfOption } from "../../meta/data-type-option.ts";
import type { Finding, NodeLayout } from "../../meta/format.ts";
import type { WritableStore } from "../../stores/store.ts";
import { withConcurrencyLimit } from "../../stores/with/concurrency-limit.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { DEFAULT_MAX_MEMORY } from "../../streams/byte-budget.ts";
import type { ChunkCodec, ChunkStore, DecodedChunk, Region } from "../../streams/chunk.ts";
import type { RegridTarget } from "../../streams/regrid.ts";
import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { asyncDispose } from "../../util/async-dispose.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { OptionNames } from "../../util/options.ts";
import { parseBytes } from "../../util/units.ts";
import type { WritableStream } from "../../util/web-streams.ts";
import { type ArrayDescription, describeArray, documentsOf, type NewArray } from "../create/metadata.ts";
import type { NodeDraft, OpenCreateTarget } from "../create/place.ts";
import { deleteKeys } from "../edit/delete.ts";
import { appendFrames, type Frames, type GrowingArray } from "./chunk-draft.ts";
import { type RegionOption, regionOf } from "./region.ts";
import { UnfinishedChunks } from "./unfinished-chunks.ts";
import { type ArrayPart, chunkDataOf, isDecoded, partsInto, type Values } from "./values.ts";

export interface NodeWriterOptions {
  /** Maximum number of requests in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /** Stores chunks that contain only the fill value too. */
  readonly writeEmptyChunks?: boolean | undefined;
  /**
   * Maximum number of bytes, as a number or as text such as `256MB`, of chunks that are incomplete or being stored; 256
   * MB by default. `append` instead keeps one row of chunks in memory, whatever its size.
   */
  readonly maxMemory?: number | string | undefined;
  /** Maximum size in bytes of a metadata document of the hierarchy around it; 32 MiB by default. */
  readonly maxMetadata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const NODE_WRITER_OPTIONS: OptionNames<NodeWriterOptions> = {
  concurrency: true,
  writeEmptyChunks: true,
  maxMemory: true,
  maxMetadata: true,
  signal: true,
};

/**
 * Writes a new array of type `Name`. It is invisible until `close`, and `abort` removes all of it. Values arrive as
 * regions (`write`), as a stream of parts or chunks (`writable`), as frames along the first dimension (`append`), or as
 * encoded chunks: it is a valid target for `regrid`, `encodeChunks` and `writeChunks`.
 *
 * An incomplete chunk waits in memory for its other items, so that it is stored once. If incomplete chunks exceed
 * `maxMemory`, some are stored early and read back when more items arrive.
 *
 * If anything could not be written, `close` removes the array and throws that failure. Pending calls end with the
 * signal, even while a codec hangs.
 */
export class ArrayWriter<Name extends DataTypeName = DataTypeName>
  implements ChunkStore<WritableStore>, ChunkCodec, RegridTarget, GrowingArray
{
  readonly kind = "array";
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  /** Problems found in the hierarchy around it that did not prevent writing. */
  readonly findings: readonly Finding[];
  readonly #site: NodeDraft;
  readonly #pipeline: CodecPipeline;
  readonly #calls: PendingCalls;
  readonly #options: {
    readonly concurrency: number;
    readonly writeEmptyChunks: boolean;
    readonly buffers: BufferPool;
  };
  readonly #unfinished: UnfinishedChunks;
  #metadata: ArrayMetadata;
  #writable: WritableStream<ArrayPart | DecodedChunk> | undefined;
  #appended: Promise<void> = Promise.resolve();

  private constructor(site: NodeDraft, { metadata, pipeline }: ArrayDescription, options: NodeWriterOptions) {
    const { concurrency = 16, writeEmptyChunks = false, signal } = options;
    const maxMemory = options.maxMemory === undefined ? undefined : parseBytes(options.maxMemory);
    this.store = withConcurrencyLimit(site.store, concurrency);
    this.layout = site.layout;
    this.findings = site.findings ?? [];
    this.#site = site;
    this.#metadata = metadata;
    this.#pipeline = pipeline;
    this.#options = {
      concurrency,
      writeEmptyChunks,
      buffers: new BufferPool(maxMemory ?? DEFAULT_MAX_MEMORY),
    };
    this.#unfinished = new UnfinishedChunks(this, pipeline, { ...this.#options, maxMemory });
    this.#calls = new PendingCalls(this.path, signal);
  }

  /** Starts an array at `place`. @throws as `create` */
  static async begin<Type extends DataTypeOption>(
    place: OpenCreateTarget,
    array: NewArray<Type>,
    options: NodeWriterOptions,
  ): Promise<ArrayWriter<NameOfOption<Type>>> {
    return ArrayWriter.#at(place, await describeArray(array, place.layout), options);
  }

  /** Starts an array at `place` with metadata that its format supports. @throws `unsupported-codec` */
  static async beginAs(
    place: OpenCreateTarget,
    metadata: ArrayMetadata,
    options: NodeWriterOptions,
  ): Promise<ArrayWriter> {
    const pipeline = await createPipeline(metadata.codecs, chunkSpecOf(metadata), { isWritten: true });
    return ArrayWriter.#at(place, { metadata, pipeline }, options);
  }

  static async #at<Name extends DataTypeName = DataTypeName>(
    place: OpenCreateTarget,
    description: ArrayDescription,
    options: NodeWriterOptions,
  ): Promise<ArrayWriter<Name>> {
    const site = await place.begin(description.metadata);
    try {
      return new ArrayWriter(site, description, options);
    } catch (error) {
      await site.discard(async () => {}, error);
      throw error;
    }
  }

  /** Path in the store that contains it. */
  get path(): string {
    return this.layout.path;
  }

  get metadata(): ArrayMetadata {
    return this.#metadata;
  }

  /** Current number of items along each dimension. */
  get shape(): readonly number[] {
    return this.#metadata.shape;
  }

  /** Number of items of a chunk along each dimension. */
  get chunkShape(): readonly number[] {
    return this.#metadata.chunkGrid.chunkShape;
  }

  /** Name of the data type, such as `float32`. */
  get dataType(): Name {
    return describeDataType(this.#metadata.dataType) as Name;
  }

  /** Specification of a chunk, for `regrid`. */
  get chunk(): ChunkSpec {
    return this.#pipeline.spec;
  }

  /** Strides of a chunk in the layout that its codecs expect, in items. */
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
   * Writes a region. Complete chunks are stored; others wait in memory for the rest of their items. Items may be
   * written more than once; of concurrent calls for the same items, the last one wins. The caller may reuse the values
   * once the promise resolves.
   *
   * @throws `invalid-selection` for a region beyond the array; `invalid-option` for values of the wrong type or number;
   *   `unsupported-operation` for a chunk in a zip that was already stored, since a zip takes each chunk once.
   */
  async write(region: RegionOption, values: Values<Name>): Promise<void> {
    await this.writePart({ region: regionOf(region, this), data: values });
  }

  /**
   * Writes a region whose values may have any order and gaps between them, or a decoded chunk from the stages of
   * `zarrflow/streams`, whose data it takes ownership of.
   *
   * @param onTaken called as soon as the caller may reuse the values, before complete chunks are stored
   * @throws as `write`
   */
  async writePart(part: ArrayPart<Name> | DecodedChunk, onTaken = () => {}): Promise<void> {
    const region = regionOf(part.region, this);
    const isOwned = isDecoded(part);
    const piece = isOwned ? part : pieceOf(part, region, this.#metadata.dataType);
    await this.#calls.run((signal) => this.#unfinished.write(piece, { signal, isOwned, onTaken }));
  }

  /**
   * A stream that takes parts, as `slice(...).chunks()` returns them, or chunks, as `readDecoded` and `regrid` do:
   * several concurrently, in any order and from any grid. The type allows parts of any data type; a part whose type
   * differs from the array's fails. The stream takes ownership of each part. Closing it publishes the array; aborting
   * it, or a part that cannot be written, removes the array.
   */
  get writable(): WritableStream<ArrayPart | DecodedChunk> {
    this.#writable ??= partsInto(this, this.#options.concurrency);
    return this.#writable;
  }

  /**
   * Appends frames along the first dimension, which grows accordingly. Each frame contains one or more items of that
   * dimension and must not change afterwards. The number of frames need not be known in advance: only one row of
   * chunks, and the chunks being written, are in memory.
   *
   * @throws `invalid-option` for a frame of another type or with part of an item; whatever `frames` throws.
   */
  async append(frames: Frames<Name>): Promise<void> {
    const before = this.#appended;
    this.#appended = this.#calls.run(async (signal) => {
      await before;
      await this.#unfinished.flush(signal);
      await appendFrames(this, frames, { ...this.#options, signal });
    });
    await this.#appended;
  }

  /** Extends the first dimension to `length` items, if it is shorter; new items read as the fill value. */
  grow(length: number): void {
    const [now, ...others] = this.shape;
    if (now === undefined || !Number.isSafeInteger(length)) {
      throw new ZarrflowError(
        "invalid-option",
        "an array grows along its first dimension, so its length must be a whole number",
        {
          path: this.path,
          found: length,
        },
      );
    }
    this.#metadata = { ...this.#metadata, shape: [Math.max(now, length), ...others] };
  }

  /**
   * Waits for pending writes, then publishes the array: its documents are written after all chunks.
   *
   * @throws the first failure of a write, after removing the array.
   */
  async close(): Promise<void> {
    this.#calls.assertOpen();
    try {
      await this.#calls.finish((signal) => this.#unfinished.flush(signal));
      await this.#site.publish(documentsOf(this.#metadata, this.layout), this.#undo);
    } catch (error) {
      await this.#site.discard(this.#undo, error).catch(() => {});
      throw error;
    }
  }

  /** Stops pending writes and removes the array. Does nothing after `close` or `abort`. */
  async abort(reason?: unknown): Promise<void> {
    if (this.#calls.isOver) return;
    const error = reason ?? new ZarrflowError("aborted", "the array was aborted", { path: this.path });
    await this.#calls.stop(error);
    await this.#site.discard(this.#undo, error);
  }

  /** Aborts the array unless it is closed. */
  async [asyncDispose](): Promise<void> {
    await this.abort();
  }

  readonly #undo = (): Promise<void> =>
    deleteKeys(this.store, this.layout, this.#metadata, { concurrency: this.#options.concurrency });
}

/** Converts a part of an array to a decoded chunk that refers to the same values. */
function pieceOf({ data, stride }: ArrayPart, region: Region, dataType: DataType): DecodedChunk {
  const { start: coords, shape } = region;
  return { index: 0, coords, region, data: chunkDataOf(data, { dataType, shape, stride }) };
}

/** The pending calls of one writer, until it is closed or aborted. */
export class PendingCalls {
  readonly #signal: AbortSignal | undefined;
  readonly #path: string;
  /** Each call has its own signal: runtimes warn of leaks when many listeners share one. */
  readonly #running = new Map<Promise<void>, AbortController>();
  #failure: { readonly error: unknown } | undefined;
  readonly #stopListening: () => void;
  #isOver = false;

  constructor(path: string, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#signal = signal;
    this.#stopListening = onAbort(signal, () => this.#abortAll(abortError(signal?.reason)));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs a call; its failure aborts all others.
   *
   * @throws `unsupported-operation` if the writer is closed or aborted; that failure.
   */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.assertOpen();
    await this.#run(work);
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    throwIfAborted(this.#signal);
    if (this.#failure) throw this.#failure.error;
    const controller = new AbortController();
    const running = work(controller.signal).catch((error: unknown) => {
      this.#failure ??= { error };
      this.#abortAll(error);
      throw error;
    });
    this.#running.set(running, controller);
    try {
      await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Closes the writer once pending calls and then `last` have ended. @throws the first failure of any call. */
  async finish(last: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.assertOpen();
    this.#isOver = true;
    await Promise.allSettled(this.#running.keys());
    try {
      await this.#run(last);
      throwIfAborted(this.#signal);
    } finally {
      this.#stopListening();
    }
  }

  /** Aborts pending calls and closes the writer. */
  async stop(reason: unknown): Promise<void> {
    this.#abortAll(reason);
    this.#isOver = true;
    await Promise.allSettled(this.#running.keys());
    this.#stopListening();
  }

  assertOpen(): void {
    if (!this.#isOver) return;
    throw new ZarrflowError("unsupported-operation", "the target is already published or aborted", {
      path: this.#path,
    });
  }

  #abortAll(reason: unknown): void {
    for (const controller of this.#running.values()) controller.abort(reason);
  }
}
