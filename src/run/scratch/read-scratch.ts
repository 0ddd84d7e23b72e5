import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { ChunkSpec } from "../../codecs/codec.ts";
import { MAX_CHUNK_SIZE } from "../../codecs/limits.ts";
import { isFixed } from "../../meta/data-type.ts";
import { boxesTouching, headerSize, type Piece, pieceOf } from "../../plan/staged-windows.ts";
import {
  boxGrid,
  boxRegion,
  itemsOf,
  lastStage,
  type ScratchTask,
  scratchKey,
  splitsOf,
  type Task,
} from "../../plan/task.ts";
import type { Store, StoreOptions, WritableStore } from "../../stores/store.ts";
import { BufferScope } from "../../streams/buffer-pool.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import type { ChunkStore, DecodedChunk, Region } from "../../streams/chunk.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { beginAssembly, coordsIn } from "../../streams/regrid.ts";
import { wholeSelection } from "../../streams/selection.ts";
import type { Buffers } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { cStrides, indexOf, product } from "../../util/shape.ts";
import { type ReadableStream, streamFrom } from "../../util/web-streams.ts";
import { PIECE_ENTRY_SIZE, presentParts } from "./scratch-objects.ts";

export interface ScratchReaderOptions {
  readonly scratch: Store;
  /** Specification of a target chunk. */
  readonly chunk: ChunkSpec;
  readonly buffers: Buffers;
}

export interface ReadScratchOptions extends ScratchReaderOptions {
  readonly concurrency: number;
  readonly inFlight: { readonly budget: ByteBudget; readonly bytesPerChunk: number };
  readonly signal?: AbortSignal | undefined;
}

/** Returns the place where the object of a task is written. */
export function scratchPlace({ job, pass }: ScratchTask, store: WritableStore): ChunkStore<WritableStore> {
  const grid = boxGrid(splitsOf(job, pass));
  return { store, path: job.path, chunkKey: (coords) => scratchKey(job, pass, indexOf(coords, grid)) };
}

/** A piece of an object of the previous pass, with its location. */
export interface PlacedPiece extends Piece {
  readonly key: string;
  readonly coords: readonly number[];
}

/** A piece after reading; `bytes: undefined` if all of its chunks were missing. */
export interface ReadPiece extends PlacedPiece {
  readonly bytes: Uint8Array | undefined;
  readonly release?: () => void;
}

/**
 * Reads the pieces from the previous pass that a task needs, as chunks of the target's items. Parts without data become
 * missing chunks.
 *
 * @throws `corrupt-store` if an object is gone or has another size; what the store throws.
 */
export function readScratch(task: Task, options: ReadScratchOptions): ReadableStream<DecodedChunk> {
  const { inFlight, buffers, signal, concurrency } = options;
  const { pieces, read, chunksOf } = scratchReader(task, options);
  const readLeased = async (piece: PlacedPiece, context: { signal: AbortSignal }): Promise<ReadPiece> => {
    const lease = await inFlight.budget.acquire(inFlight.bytesPerChunk, context.signal);
    try {
      return { ...(await read(piece, context)), release: lease.release };
    } catch (error) {
      lease.release();
      throw error;
    }
  };
  const discard = ({ bytes, release }: ReadPiece) => {
    if (bytes) buffers.give(bytes);
    release?.();
  };
  const unpacked = async function* (found: ReadableStream<ReadPiece>) {
    for await (const piece of found) yield* chunksOf(piece);
  };
  const found = streamFrom(pieces).pipeThrough(mapConcurrent(readLeased, { concurrency, signal, discard }));
  return streamFrom(unpacked(found));
}

/** Reads single pieces, as `readScratch` does for its stream. */
export interface ScratchReader {
  /** All pieces that the task reads, in C order of the boxes that they belong to. */
  readonly pieces: Iterable<PlacedPiece>;
  read(piece: PlacedPiece, context: StoreOptions): Promise<ReadPiece>;
  /** Converts a piece to decoded chunks: several if parts of it are missing. Takes ownership. */
  chunksOf(piece: ReadPiece): Iterable<DecodedChunk>;
}

export function scratchReader(task: Task, options: ScratchReaderOptions): ScratchReader {
  const stage = task.kind === "scratch" ? task.pass : lastStage(task.job);
  const header = headerSize(task.job, stage - 1);
  const { chunkShape } = task.job.target;
  return {
    pieces: piecesOf(task, stage),
    async read(piece, { signal }) {
      try {
        return { ...piece, bytes: await readPiece(piece, header, { ...options, signal }) };
      } catch (error) {
        if (isZarrflowError(error)) error.addContext({ path: task.job.path, key: piece.key });
        throw error;
      }
    },
    chunksOf: (piece) => chunksOf(piece, { ...options, header, chunkShape }),
  };
}

/** All pieces that a task reads, in C order of the boxes that they belong to. */
function* piecesOf(task: Task, stage: number): Generator<PlacedPiece> {
  const { job } = task;
  const region = itemsOf(task);
  if (product(region.shape) === 0) return;
  const [before, own] = [splitsOf(job, stage - 1), splitsOf(job, stage)];
  const grid = boxGrid(before);
  const coords = boxesTouching(region, own).start;
  const boxes = boxesTouching(region, before);
  for (const box of coordsIn(boxes)) {
    const piece = pieceOf(boxRegion(before, box), own, coords);
    if (piece) yield { ...piece, key: scratchKey(job, stage - 1, indexOf(box, grid)), coords: box };
  }
}

/** Reads the bytes of a piece, including its header; undefined if its object is empty. */
async function readPiece(
  { key, ordinal, itemsBefore, region }: PlacedPiece,
  header: number,
  options: ScratchReaderOptions & StoreOptions,
): Promise<Uint8Array | undefined> {
  const { dataType } = options.chunk;
  if (isFixed(dataType)) {
    const offset = ordinal * header + itemsBefore * dataType.size;
    return readRange(key, { offset, length: header + product(region.shape) * dataType.size }, options);
  }
  const entries = await readRange(
    key,
    { offset: ordinal * PIECE_ENTRY_SIZE, length: 2 * PIECE_ENTRY_SIZE },
    options,
  );
  if (entries === undefined) return undefined;
  const table = new DataView(entries.buffer, entries.byteOffset, entries.length);
  const offset = Number(table.getBigUint64(0, true));
  const length = Number(table.getBigUint64(PIECE_ENTRY_SIZE, true)) - offset;
  options.buffers.give(entries);
  if (length < header || length > MAX_CHUNK_SIZE) throw changed(key);
  return readRange(key, { offset, length }, options);
}

/** Reads exactly the given range; returns undefined if the object is empty. */
async function readRange(
  key: string,
  range: { readonly offset: number; readonly length: number },
  { scratch, buffers, signal }: ScratchReaderOptions & StoreOptions,
): Promise<Uint8Array | undefined> {
  const taken = new BufferScope(buffers);
  // A store that retries allocates again.
  const allocate = (found: number) => {
    taken.giveAll();
    return taken.take(Math.min(found, range.length));
  };
  try {
    const bytes = await scratch.get(key, { range, allocate, signal });
    if (bytes?.length === range.length) return bytes;
    taken.giveAll();
    if (bytes?.length === 0 && (await scratch.size(key, { signal })) === 0) return undefined;
  } catch (error) {
    taken.giveAll();
    throw error;
  }
  throw changed(key);
}

function changed(key: string): ZarrflowError {
  return new ZarrflowError("corrupt-store", "a scratch object was removed or changed", {
    key,
    hint: "Make sure that no other program touches scratch objects, and run again; with --resume, missing ones are rewritten.",
  });
}

interface Unpacking extends Pick<ScratchReaderOptions, "chunk" | "buffers"> {
  readonly header: number;
  readonly chunkShape: readonly number[];
}

/** Splits a piece into decoded chunks: one if it is complete, more if parts of it are missing. */
function* chunksOf(piece: ReadPiece, unpacking: Unpacking): Generator<DecodedChunk> {
  const { bytes, region, coords, release } = piece;
  const { header, chunk, chunkShape, buffers } = unpacking;
  const whole = { index: piece.ordinal, coords, region, ...(release && { release }) };
  if (bytes === undefined) {
    yield { ...whole, data: undefined };
    return;
  }
  const parts = [...presentParts(bytes.subarray(0, header), region, chunkShape)];
  const data = unpack(bytes.subarray(header), region, chunk);
  if (parts.length === 1 && parts[0]?.isPresent) {
    yield { ...whole, data };
    return;
  }
  for (const { region: part, isPresent } of parts) {
    const ref = { index: piece.ordinal, coords, region: part };
    yield { ...ref, data: isPresent ? partOf({ ...whole, data }, part, unpacking) : undefined };
  }
  buffers.give(bytes);
  release?.();
}

function unpack(bytes: Uint8Array, { shape }: Region, { dataType }: ChunkSpec): ChunkData {
  if (isFixed(dataType)) {
    return { kind: "fixed", bytes, itemSize: dataType.size, shape, strides: cStrides(shape) };
  }
  const packed = (product(shape) + 1) * Uint32Array.BYTES_PER_ELEMENT;
  const offsets = new Uint32Array(bytes.slice(0, packed).buffer);
  return { kind: "variable", bytes: bytes.subarray(packed), offsets, shape };
}

/** Copies part of a piece. */
function partOf(piece: DecodedChunk, part: Region, { chunk, buffers }: Unpacking): ChunkData | undefined {
  const spec = { ...chunk, shape: part.shape };
  const selection = wholeSelection(part.shape.map((n, d) => n + (part.start[d] ?? 0)));
  const assembly = beginAssembly({ chunk: spec, strides: cStrides(part.shape) }, part, {
    selection,
    buffers,
  });
  assembly.add(piece, part);
  return assembly.finish();
}
