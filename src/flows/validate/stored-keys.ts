import { loadCodecs, type PlacedCodec } from "../../codecs/chain/codec-chain.ts";
import { chunkSpecOf } from "../../codecs/codec.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { type ChunkKeyEncoding, gridShape } from "../../meta/array-metadata.ts";
import type { KeyEntry, ListableStore, StoreOptions, StoreSpec } from "../../stores/store.ts";
import { folderInPlace } from "../../stores/version.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { decodedChunks, memoryPerChunk } from "../../streams/read-chunks.ts";
import { chunkRegion, selectionOf } from "../../streams/selection.ts";
import { type LeftoverOptions, leftoversAt } from "../../targets/leftovers.ts";
import { holderOf, readLock } from "../../targets/store-lock.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { joinKey, lastName } from "../../util/node-path.ts";
import { product } from "../../util/shape.ts";
import { faultFinding, type ValidateFinding } from "./finding.ts";
import { type ReadNodes, StoredZeros } from "./nodes.ts";

/** A stored chunk within the grid of its array. */
export interface StoredChunk {
  readonly array: ZarrArray;
  readonly key: string;
  readonly coords: readonly number[];
  readonly size: number;
}

/** Documents of all formats; next to documents of another format they are ignored. */
const DOCUMENTS = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];

const ENCODINGS: readonly ChunkKeyEncoding[] = (["plain", "default"] as const).flatMap((name) =>
  ([".", "/"] as const).map((separator) => ({ name, separator })),
);

/** Classifies each key of a listing, and collects keys that belong to nothing, and chunks of a wrong size. */
export class StoredKeys {
  readonly #root: ZarrNode;
  readonly #read: ReadNodes;
  readonly #groups = new Map<string, ValidateFinding>();
  readonly #findings: ValidateFinding[] = [];
  readonly #present = new Map<ZarrArray, number>();
  readonly #sizes = new Map<ZarrArray, Promise<number | undefined>>();

  constructor(root: ZarrNode, read: ReadNodes) {
    this.#root = root;
    this.#read = read;
  }

  /** Findings so far; those of one kind and node are combined. */
  get findings(): readonly ValidateFinding[] {
    return [...this.#findings, ...this.#groups.values()];
  }

  /** Checks the codecs of all arrays, even those without chunks. */
  async lookAtCodecs(): Promise<void> {
    for (const node of this.#read.nodes.values()) if (node.kind === "array") await this.#chunkSize(node);
  }

  /** The chunk that a key names; undefined if it is not one, or is known to be wrong. */
  async take({ key, size }: KeyEntry): Promise<StoredChunk | undefined> {
    const owner = this.#ownerOf(this.#root.layout.hierarchy.pathOf(key));
    if (owner === undefined || this.#isDocument(key, owner)) return undefined;
    const name = lastName(key);
    if (DOCUMENTS.includes(name)) {
      return this.#note("warning", "foreign-document", owner, key, "a document of another format, ignored");
    }
    if (owner.kind === "group") {
      const path = pathOfLostArray(owner, key);
      if (path !== undefined) {
        const message = "looks like a chunk of an array without a metadata document: it is never read";
        return this.#note("warning", "orphan-chunk", { path }, key, message);
      }
      return this.#note(
        "info",
        "unknown-key",
        owner,
        key,
        "does not belong to an array: it is neither a chunk nor a metadata document",
      );
    }
    const coords = coordsOf(owner, key);
    if (coords === undefined) return this.#noteNoChunk(owner, key);
    if (isOutside(owner, coords)) {
      return this.#note(
        "warning",
        "outside-grid",
        owner,
        key,
        "a chunk outside the grid: becomes visible if the array grows",
      );
    }
    return this.#takeChunk({ array: owner, key, coords, size: size ?? (await owner.store.size(key)) ?? 0 });
  }

  /** The chunk at a position of an array's grid; undefined if it is missing, or known to be wrong. */
  async takeAt(
    array: ZarrArray,
    coords: readonly number[],
    options: StoreOptions,
  ): Promise<StoredChunk | undefined> {
    const key = array.chunkKey(coords);
    let size: number | undefined;
    try {
      size = await array.store.size(key, options);
    } catch (error) {
      this.#count(array); // present, though unreadable
      const { level, what, message } = faultFinding(error, "unreadable", array.path);
      return this.#note(level, what, array, key, message);
    }
    return size === undefined ? undefined : this.#takeChunk({ array, key, coords, size });
  }

  /** Checks a value that is not decoded, if the store has its checksum. */
  async checkValue(key: string, options: StoreOptions): Promise<void> {
    try {
      await this.#root.store.checks?.check(key, options);
    } catch (error) {
      this.noteUnreadable(key, error);
    }
  }

  /** Reports chunks of the grids that are not stored. Call it after all keys. */
  *missingChunks(): Generator<ValidateFinding> {
    for (const array of this.#read.nodes.values()) {
      if (array.kind !== "array") continue;
      const chunks = product(gridShape(array.shape, array.metadata.chunkGrid.chunkShape));
      const count = chunks - (this.#present.get(array) ?? 0);
      if (count <= 0) continue;
      const message = `${count} of ${chunks} chunks are missing: their items read as the fill value`;
      yield { level: "info", what: "missing-chunks", path: array.path, message, count };
    }
  }

  /**
   * Returns the array that a key is a chunk of, if the chunk is outside the array's grid; undefined for any other key.
   */
  arrayOutside(key: string): ZarrArray | undefined {
    const owner = this.#ownerOf(this.#root.layout.hierarchy.pathOf(key));
    if (owner?.kind !== "array" || this.#isDocument(key, owner)) return undefined;
    const coords = coordsOf(owner, key);
    return coords && isOutside(owner, coords) ? owner : undefined;
  }

  /** Reports a key below the root that cannot be read; documents are reported with their nodes. */
  noteUnreadable(name: string, error: unknown): void {
    const path = this.#root.layout.hierarchy.pathOf(name);
    const owner = this.#ownerOf(path);
    if (owner === undefined || this.#read.broken.has(path) || this.#isDocument(name, owner)) return;
    this.#findings.push({ ...faultFinding(error, "unreadable", owner.path), key: name });
  }

  /** Reports a folder in the place of a chunk, which cannot be read there. */
  noteFolder(prefix: string): void {
    const key = prefix.slice(0, -1);
    const owner = this.#ownerOf(this.#root.layout.hierarchy.pathOf(key));
    const coords = owner?.kind === "array" ? coordsOf(owner, key) : undefined;
    if (owner?.kind !== "array" || coords === undefined || isOutside(owner, coords)) return;
    this.#findings.push({ ...faultFinding(folderInPlace(), "unreadable", owner.path), key });
  }

  /** The nearest node at or above a key; undefined if that node cannot be read. */
  #ownerOf(key: string): ZarrNode | undefined {
    const { nodes, broken } = this.#read;
    for (let end = key.lastIndexOf("/"); ; end = key.lastIndexOf("/", end - 1)) {
      const path = key.slice(0, Math.max(0, end));
      if (broken.has(path)) return undefined;
      const node = nodes.get(path);
      if (node) return node;
      if (end <= 0 || path === this.#root.path) return path === this.#root.path ? this.#root : undefined;
    }
  }

  #isDocument(key: string, { kind, layout }: ZarrNode): boolean {
    const described = layout.hierarchy.nodeOf(key);
    const { nodes, broken } = this.#read;
    if (described !== undefined && (nodes.has(described) || broken.has(described))) return true;
    return kind === "group" && key === layout.consolidatedKey;
  }

  #noteNoChunk(array: ZarrArray, key: string): undefined {
    const { layout, shape } = array;
    const isOther = ENCODINGS.some((encoding) => layout.parseChunkKey(key, shape.length, encoding));
    if (!isOther)
      return this.#note("info", "unknown-key", array, key, "is neither a chunk nor a metadata document");
    const message = "looks like a chunk, but the chunk keys of the array have another form: it is never read";
    return this.#note("warning", "other-separator", array, key, message);
  }

  async #takeChunk(chunk: StoredChunk): Promise<StoredChunk | undefined> {
    this.#count(chunk.array);
    return (await this.#hasRightSize(chunk)) ? chunk : undefined;
  }

  #count(array: ZarrArray): void {
    this.#present.set(array, (this.#present.get(array) ?? 0) + 1);
  }

  async #hasRightSize({ array, key, size }: StoredChunk): Promise<boolean> {
    const expected = await this.#chunkSize(array);
    if (expected === undefined ? size > 0 : size === expected) return true;
    const message = `the chunk has ${size} bytes${expected === undefined ? "" : `, not ${expected}`}`;
    this.#findings.push({ level: "error", what: "chunk-size", path: array.path, message, key });
    return false;
  }

  /** Stored size of a chunk, if all chunks have the same. */
  #chunkSize(array: ZarrArray): Promise<number | undefined> {
    const size = this.#sizes.get(array) ?? this.#lookAtCodecs(array);
    this.#sizes.set(array, size);
    return size;
  }

  /** Computes `#chunkSize`; reports codecs that prevent chunks from being decoded or encoded. */
  async #lookAtCodecs(array: ZarrArray): Promise<number | undefined> {
    const { codecs } = array.metadata;
    const spec = chunkSpecOf(array.metadata);
    try {
      const size = fixedChunkSize(await loadCodecs(codecs, spec));
      await loadCodecs(codecs, spec, { isWritten: true }).catch((error) => this.#noteCodecs(array, error));
      return size;
    } catch (error) {
      return this.#noteCodecs(array, error);
    }
  }

  #noteCodecs({ path }: ZarrArray, error: unknown): undefined {
    this.#findings.push({ ...faultFinding(error, "metadata", path), level: "warning" });
    return undefined;
  }

  #note(
    level: ValidateFinding["level"],
    what: ValidateFinding["what"],
    { path }: Pick<ZarrNode, "path">,
    key: string,
    message: string,
  ): undefined {
    const id = `${what} ${path}`;
    const known = this.#groups.get(id);
    const count = (known?.count ?? 1) + 1;
    this.#groups.set(id, known ? { ...known, count } : { level, what, path, message, key });
    return undefined;
  }
}

/** Path of the missing array that a key looks like a chunk of; undefined for a key of another form. */
function pathOfLostArray({ layout }: ZarrNode, key: string): string | undefined {
  const forms: { readonly [format: string]: RegExp } = {
    v2: /^(?:(.+?)\/)?\d+(?:[./]\d+)*$/,
    v3: /^(?:(.+?)\/)?c(?:[./]\d+)+$/,
  };
  const found = forms[layout.zarrFormat]?.exec(key);
  return found ? (found[1] ?? "") : undefined;
}

function coordsOf({ layout, metadata, shape }: ZarrArray, key: string): readonly number[] | undefined {
  return layout.parseChunkKey(key, shape.length, metadata.chunkKeyEncoding);
}

function isOutside({ shape, chunkShape }: ZarrArray, coords: readonly number[]): boolean {
  const grid = gridShape(shape, chunkShape);
  return coords.some((at, d) => at >= (grid[d] ?? 0));
}

function fixedChunkSize(chain: readonly PlacedCodec[]): number | undefined {
  const last = chain.at(-1);
  if (last?.codec.kind === "array-to-bytes") return last.codec.encodedSize;
  if (last?.codec.kind !== "bytes-to-bytes" || last.decodedSize === undefined) return undefined;
  return last.codec.fixedEncodedSize?.(last.decodedSize);
}

/** Reports what runs left behind, or keep there while active: the lock of a target, and unfinished uploads. */
export async function* leftoverFindings(
  { path, spec }: ZarrNode,
  store: ListableStore,
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  const lock = await readLock(store, { signal });
  if (lock) {
    const message = `a run is writing here or was killed: ${holderOf(lock)}; if it was killed, repeat its command: an append completes by itself, other runs continue with --resume`;
    yield { level: "warning", what: "lock", path, message };
  }
  yield* ownLeftoverFindings({ store: spec, path }, { signal });
  if (store.listUploads === undefined) return;
  try {
    for await (const { key, begun, hint } of store.listUploads(joinKey(path, ""), { signal })) {
      const message = `an unfinished upload, started ${begun.toISOString()}, takes up space. ${hint}`;
      yield { level: "warning", what: "open-upload", path, message, key, place: key };
    }
  } catch (error) {
    if (!isZarrflowError(error, "access-denied") && !isZarrflowError(error, "unsupported-operation"))
      throw error;
    const message = "the store cannot list unfinished uploads, so these were not checked";
    yield { level: "info", what: "not-checked", path, message };
  }
}

/** Reports leftovers of runs at a place, with or without a node, except locks and uploads. */
export async function* ownLeftoverFindings(
  place: { readonly store: StoreSpec; readonly path: string },
  options: Pick<LeftoverOptions, "below" | "signal">,
): AsyncGenerator<ValidateFinding> {
  for await (const { kind, place: where, isDead } of leftoversAt(place, { ...options, withUploads: false })) {
    if (kind === "lock") continue;
    const state = isDead ? "belongs to a killed run" : "belongs to an active or killed run";
    const message = `${where} (${kind}) ${state}; \`zarrflow clean\` removes it`;
    yield { level: "warning", what: "leftover", path: place.path, message, place: where };
  }
}

/** Chunks of a shard that are decoded concurrently. */
const AHEAD = 4;

/**
 * Returns a check that reads and decodes a chunk within a memory budget; of a shard, a few inner chunks at a time. It
 * reports chunks that cannot be decoded, and zeros that readers would treat as missing.
 */
export function decodeCheck(
  maxMemory: number,
): (chunk: StoredChunk, context: { signal: AbortSignal }) => Promise<ValidateFinding | undefined> {
  const sharedMemory = new ByteBudget(maxMemory);
  const buffers = new BufferPool(maxMemory);
  const zeros = new StoredZeros();

  const decode = async (chunk: StoredChunk, signal: AbortSignal): Promise<ValidateFinding | undefined> => {
    const array = chunk.array.innerChunks();
    const selection = selectionOf(chunkRegion(chunk.coords, chunk.array.chunkShape, chunk.array.shape));
    const ahead = AHEAD * memoryPerChunk(array, await array.pipeline(), buffers);
    const decoded = decodedChunks(array, selection, {
      concurrency: AHEAD,
      maxMemory: Math.min(ahead, maxMemory),
      sharedMemory,
      storedSize: array.shards ? undefined : chunk.size,
      whole: true,
      buffers,
      signal,
    });
    let found: ValidateFinding | undefined;
    for await (const inner of decoded) {
      found ??= zeros.look(chunk.array, chunk.key, inner);
      if (inner.data) buffers.give(inner.data.bytes);
      inner.release?.();
    }
    if (array.shards) await chunk.array.store.checks?.check(chunk.key, { signal });
    return found;
  };
  return async (chunk, { signal }) => {
    try {
      return await decode(chunk, signal);
    } catch (error) {
      if (isZarrflowError(error, "unsupported-codec")) return undefined;
      return { ...faultFinding(error, "broken-chunk", chunk.array.path), key: chunk.key };
    }
  };
}
