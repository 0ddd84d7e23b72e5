import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { isListable } from "../../stores/store.ts";
import { folderInPlace } from "../../stores/version.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { chunkRegion, type Selection, selectedRegions } from "../../streams/selection.ts";
import { indexOf } from "../../util/shape.ts";

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
export class MissingChunks {
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
