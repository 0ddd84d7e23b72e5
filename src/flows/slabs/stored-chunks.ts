import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { isListable } from "../../stores/store.ts";
import { folderInPlace } from "../../stores/version.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { chunkRegion, type Selection, selectedRegions } from "../../streams/selection.ts";
import { indexOf } from "../../util/shape.ts";

/** So many chunks in a row are found missing before those that are stored are listed. */
const MISSING_BEFORE_LISTING = 1000;
/** The most keys that are remembered: of an array that has more of them, each chunk is asked for. */
const MAX_KEYS = 100_000;

/** A part of an array that is read in slabs. */
export interface SlabbedArray {
  readonly array: ZarrArray;
  readonly selection: Selection;
  readonly slabShape: readonly number[];
  readonly signal: AbortSignal;
}

/** The keys of an array's chunks that are stored, and the slabs of a reading in which any of these lie. */
export interface StoredChunks {
  readonly keys: ReadonlySet<string>;
  readonly slabs: ReadonlySet<number>;
}

/**
 * Lists the stored chunks of a reading when many in a row are missing, so that the time it takes does not depend on how
 * many there could be.
 */
export class MissingChunks {
  readonly #reading: SlabbedArray;
  #inRow = 0;
  #isListed = false;
  #stored: StoredChunks | undefined;

  constructor(reading: SlabbedArray) {
    this.#reading = reading;
  }

  /** What is stored; undefined as long as each chunk is to be asked for. */
  get stored(): StoredChunks | undefined {
    return this.#stored;
  }

  /** Notes whether a chunk that was asked for is stored. @returns what to wait for, where that is to be known now. */
  note(isStored: boolean): Promise<void> | undefined {
    this.#inRow = isStored ? 0 : this.#inRow + 1;
    return this.#inRow < MISSING_BEFORE_LISTING || this.#isListed ? undefined : this.#list();
  }

  async #list(): Promise<void> {
    this.#isListed = true;
    this.#stored = await listStored(this.#reading);
  }
}

/** Undefined where the store cannot list, or has too many chunks, or shards lie in shards. */
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
