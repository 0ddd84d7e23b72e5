import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { Region } from "../../streams/chunk.ts";
import { type Axis, axesOver, chunksHit } from "../../streams/chunks-hit.ts";
import { intersect, type Selection, selectedRegions } from "../../streams/selection.ts";
import { coordsAt, indexOf, product } from "../../util/shape.ts";
import type { GridSide } from "../plan/plan.ts";
import type { Slab } from "./slab.ts";

/** What slabs are made of. */
export interface SlabSource {
  readonly selection: Selection;
  readonly source: Pick<GridSide, "chunkShape">;
}

/**
 * A slab while its source chunks arrive, in any order: it knows how many of its items, in C order from the first, are
 * there. Its cells are what single source chunks give to it; the first one that is missing is where these items end.
 */
export class GrowingSlab {
  readonly #region: Region;
  /** Where cells begin, along each dimension of the slab. */
  readonly #starts: readonly (readonly number[])[];
  readonly #counts: readonly number[];
  readonly #arrived: Uint8Array;
  #firstMissing = 0;
  #data: ChunkData | undefined;

  constructor({ selection, source }: SlabSource, region: Region) {
    this.#region = region;
    this.#starts = axesOver(selection, source.chunkShape).map((axis, d) =>
      startsAlong(axis, region.start[d] ?? 0, region.shape[d] ?? 0),
    );
    this.#counts = this.#starts.map(({ length }) => length);
    this.#arrived = new Uint8Array(product(this.#counts));
  }

  /** The slab, whose first `ready` items are there; undefined before any are. */
  get slab(): Slab | undefined {
    return this.#data && { region: this.#region, data: this.#data };
  }

  get ready(): number {
    const { shape } = this.#region;
    if (this.#firstMissing === this.#arrived.length) return product(shape);
    const cell = coordsAt(this.#firstMissing, this.#counts);
    return indexOf(
      cell.map((at, d) => this.#starts[d]?.[at] ?? 0),
      shape,
    );
  }

  /** Notes that items of the result have come; those that are not the slab's are left out. @param data where it is made */
  add(items: Region, data: ChunkData | undefined): void {
    this.#data ??= data;
    const own = intersect(items, this.#region);
    if (own === undefined) return;
    const first = own.start.map((from, d) => lowerBound(this.#starts[d], from - this.#offset(d)));
    const shape = own.shape.map(
      (n, d) => this.#cellsUpTo(d, (own.start[d] ?? 0) - this.#offset(d) + n) - (first[d] ?? 0),
    );
    for (let i = 0; i < product(shape); i++) {
      const cell = coordsAt(i, shape).map((at, d) => at + (first[d] ?? 0));
      this.#arrived[indexOf(cell, this.#counts)] = 1;
    }
    while (this.#arrived[this.#firstMissing] === 1) this.#firstMissing++;
  }

  #offset(d: number): number {
    return this.#region.start[d] ?? 0;
  }

  /** How many cells along a dimension end at or before an item. */
  #cellsUpTo(d: number, end: number): number {
    const starts = this.#starts[d] ?? [];
    return end === this.#region.shape[d] ? starts.length : lowerBound(starts, end + 1) - 1;
  }
}

/** Where the items of each source chunk begin in `count` results from `from` on. */
function startsAlong(axis: Axis, from: number, count: number): number[] {
  const { sourceChunk, cycle } = axis;
  const line = {
    start: [axis.start],
    step: [axis.step],
    shape: [axis.count],
    ...(cycle && { cycle: [cycle] }),
  };
  const results = { start: [from], shape: [count] };
  const hit = chunksHit(axis, from, count);
  const starts: number[] = [];
  for (let i = 0; i < hit.count; i++) {
    const items = { start: [hit.at(i) * sourceChunk], shape: [sourceChunk] };
    for (const region of selectedRegions(line, items)) {
      const [first] = intersect(region, results)?.start ?? [];
      if (first !== undefined) starts.push(first - from);
    }
  }
  return starts.sort((a, b) => a - b);
}

/** The index of the first of ascending numbers that is not below `least`. */
function lowerBound(numbers: readonly number[] = [], least: number): number {
  let low = 0;
  for (let high = numbers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
