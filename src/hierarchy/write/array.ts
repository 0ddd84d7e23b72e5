import { createPipeline } from "../../codecs/chain/pipeline.ts";
import { chunkSpecOf } from "../../codecs/chunk-spec.ts";
import type { ChunkSpec, CodecPipeline } from "../../codecs/codec.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import type { DataType } from "../../meta/data-type.ts";
import type { DataTypeName } from "../../meta/data-type-name.ts";
import type { DataTypeOption, NameOfOption } from "../../meta/data-type-option.ts";
import { describeDataType } from "../../meta/describe.ts";
import type { Finding, NodeLayout } from "../../meta/format.ts";
import type { WritableStore } from "../../stores/store.ts";
import { withConcurrencyLimit } from "../../stores/with/concurrency-limit.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import type { ChunkCodec, ChunkStore, DecodedChunk, Region } from "../../streams/chunk.ts";
import { DEFAULT_MAX_MEMORY } from "../../streams/default-memory.ts";
import type { RegridTarget } from "../../streams/regrid.ts";
import type { WritableStream } from "../../streams/web.ts";
import { asyncDispose } from "../../util/async-dispose.ts";
import { parseBytes } from "../../util/byte-size.ts";
import type { OptionNames } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type ArrayDescription, describeArray, documentsOf, type NewArray } from "../create/metadata.ts";
import type { NodeDraft, OpenCreateTarget } from "../create/node-draft.ts";
import { deleteKeys } from "../edit/delete.ts";
import { appendFrames, type Frames, type GrowingArray } from "./frames.ts";
import { type ArrayPart, isDecoded, partsInto } from "./parts.ts";
import { PendingCalls } from "./pending-calls.ts";
import { type RegionOption, regionOf } from "./region.ts";
import { UnfinishedChunks } from "./unfinished-chunks.ts";
import { chunkDataOf, type Values } from "./values.ts";

export interface NodeWriterOptions {
  /** Requests in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /** Stores chunks that hold nothing but the fill value too. */
  readonly writeEmpty?: boolean | undefined;
  /**
   * Bytes, as a number or as text such as `256MB`, of chunks that wait in memory for the rest of their items, and of those
   * that are being stored; 256 MB by default. `append` holds a row of chunks instead, however large.
   */
  readonly maxMemory?: number | string | undefined;
  /** Bytes that a metadata document of the hierarchy around it may have; 32 MiB by default. */
  readonly maxMetadata?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const NODE_WRITER_OPTIONS: OptionNames<NodeWriterOptions> = {
  concurrency: true,
  writeEmpty: true,
  maxMemory: true,
  maxMetadata: true,
  signal: true,
};

/**
 * A new array of the type `Name` while it is written. Nobody sees it before `close`, and `abort` leaves nothing of it. Values come as
 * regions (`write`), as a stream of parts or of chunks (`writable`), one after another along the first dimension
 * (`append`), or as encoded chunks: it is the target that `regrid`, `encodeChunks` and `writeChunks` want.
 *
 * A chunk of which a part was written waits in memory for its other items, so that it is stored once. Where that takes
 * more than `maxMemory`, it is stored in part, and read back when more of it comes.
 *
 * Once something that it was given could not be written, `close` gives the array up and throws that failure. What waits
 * ends with its signal, also while a codec hangs.
 */
export class ArrayWriter<Name extends DataTypeName = DataTypeName>
  implements ChunkStore<WritableStore>, ChunkCodec, RegridTarget, GrowingArray
{
  readonly kind = "array";
  readonly store: WritableStore;
  readonly layout: NodeLayout;
  /** What finding its place noticed and went on over. */
  readonly findings: readonly Finding[];
  readonly #site: NodeDraft;
  readonly #pipeline: CodecPipeline;
  readonly #calls: PendingCalls;
  readonly #options: {
    readonly concurrency: number;
    readonly writeEmpty: boolean;
    readonly buffers: BufferPool;
  };
  readonly #unfinished: UnfinishedChunks;
  #metadata: ArrayMetadata;
  #writable: WritableStream<ArrayPart | DecodedChunk> | undefined;
  #appended: Promise<void> = Promise.resolve();

  private constructor(site: NodeDraft, { metadata, pipeline }: ArrayDescription, options: NodeWriterOptions) {
    const { concurrency = 16, writeEmpty = false, signal } = options;
    const maxMemory = options.maxMemory === undefined ? undefined : parseBytes(options.maxMemory);
    this.store = withConcurrencyLimit(site.store, concurrency);
    this.layout = site.layout;
    this.findings = site.findings ?? [];
    this.#site = site;
    this.#metadata = metadata;
    this.#pipeline = pipeline;
    this.#options = { concurrency, writeEmpty, buffers: new BufferPool(maxMemory ?? DEFAULT_MAX_MEMORY) };
    this.#unfinished = new UnfinishedChunks(this, pipeline, { ...this.#options, maxMemory });
    this.#calls = new PendingCalls(this.path, signal);
  }

  /** Begins an array at `place`. @throws as `create` */
  static async begin<Type extends DataTypeOption>(
    place: OpenCreateTarget,
    array: NewArray<Type>,
    options: NodeWriterOptions,
  ): Promise<ArrayWriter<NameOfOption<Type>>> {
    return ArrayWriter.#at(place, await describeArray(array, place.layout), options);
  }

  /** Begins an array of known metadata, which its format can hold, at `place`. @throws `unsupported-codec` */
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
  get dataType(): Name {
    return describeDataType(this.#metadata.dataType) as Name;
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
   * Writes a region. Chunks that it covers wholly are stored; others wait in memory for the rest of their items. Items may
   * be written again; of calls at once on the same ones, the last wins. The values are the caller's again when it resolves.
   *
   * @throws `invalid-selection` for a region beyond the array; `invalid-option` for values of another type or number;
   *   `unsupported-operation` for a chunk in a zip, which takes each once, that was stored before.
   */
  async write(region: RegionOption, values: Values<Name>): Promise<void> {
    await this.writePart({ region: regionOf(region, this), data: values });
  }

  /**
   * Writes a region whose values may lie in any order and with gaps between them; or a chunk of the stages of
   * `zarrflow/streams`, whose data it takes for good.
   *
   * @param onTaken called as soon as the values are the caller's again, before chunks that are whole have been stored
   * @throws as `write`
   */
  async writePart(part: ArrayPart<Name> | DecodedChunk, onTaken = () => {}): Promise<void> {
    const region = regionOf(part.region, this);
    const isOwned = isDecoded(part);
    const piece = isOwned ? part : pieceOf(part, region, this.#metadata.dataType);
    await this.#calls.run((signal) => this.#unfinished.write(piece, { signal, isOwned, onTaken }));
  }

  /**
   * Takes parts, as `slice(...).chunks()` gives them, or chunks, as `readDecoded` and `regrid` do; several at a time, in any
   * order, cut by any grid. Parts of any data type compile here; one of another type than the array's fails. Each must be given for good. Closing it publishes the array; aborting it, or a part that cannot
   * be written, leaves nothing.
   */
  get writable(): WritableStream<ArrayPart | DecodedChunk> {
    this.#writable ??= partsInto(this, this.#options.concurrency);
    return this.#writable;
  }

  /**
   * Appends frames along the first dimension, which grows by them: each the values of one or more items of it, and not
   * to be changed any more. Their number need not be known: one row of chunks, and those being written, are all that
   * is in memory.
   *
   * @throws `invalid-option` for a frame of another type or of a part of an item; whatever `frames` throws.
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

  /** Makes the first dimension `length` items long, if it is shorter; new items read as the fill value. */
  grow(length: number): void {
    const [now, ...others] = this.shape;
    if (now === undefined || !Number.isSafeInteger(length)) {
      throw new ZarrflowError(
        "invalid-option",
        "an array grows along its first dimension, whose length must be a whole number",
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
   * @throws the first failure of what was to be written, with nothing left.
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

  /** Gives the array up: stops what is being written and removes all of it. Does nothing after `close` or `abort`. */
  async abort(reason?: unknown): Promise<void> {
    if (this.#calls.isOver) return;
    const error = reason ?? new ZarrflowError("aborted", "the array was aborted", { path: this.path });
    await this.#calls.stop(error);
    await this.#site.discard(this.#undo, error);
  }

  /** Gives up what was not closed. */
  async [asyncDispose](): Promise<void> {
    await this.abort();
  }

  readonly #undo = (): Promise<void> =>
    deleteKeys(this.store, this.layout, this.#metadata, { concurrency: this.#options.concurrency });
}

/** A part of an array as a chunk of the stages, which looks at its values in place. */
function pieceOf({ data, stride }: ArrayPart, region: Region, dataType: DataType): DecodedChunk {
  const { start: coords, shape } = region;
  return { index: 0, coords, region, data: chunkDataOf(data, { dataType, shape, stride }) };
}
