import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { GridSide } from "../../plan/plan.ts";
import type { Region } from "../../streams/chunk.ts";
import {
  type Axis,
  axesOver,
  chunksHit,
  intersect,
  type Selection,
  selectedRegions,
} from "../../streams/selection.ts";
import { coordsAt, cStrides, indexOf, product } from "../../util/shape.ts";

/** The selection and the source that slabs are made from. */
export interface SlabSource {
  readonly selection: Selection;
  readonly source: Pick<GridSide, "chunkShape">;
}

/**
 * A slab whose source chunks arrive in any order. It keeps track of how many of its items are complete, in C order from
 * the first. The slab is divided into boxes that come from one source chunk each; the first missing box ends the
 * complete items.
 */
export class GrowingSlab {
  readonly #region: Region;
  /** Start of each box along each dimension of the slab. */
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

  /** The slab, with `ready` complete items; undefined before any have arrived. */
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

  /** Notes items of the result that have arrived, except those of other slabs. @param data buffer of the slab */
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

  /** Number of boxes along a dimension that end at or before an item. */
  #cellsUpTo(d: number, end: number): number {
    const starts = this.#starts[d] ?? [];
    return end === this.#region.shape[d] ? starts.length : lowerBound(starts, end + 1) - 1;
  }
}

/** Starts of the runs of items from single source chunks, in `count` results from `from` on. */
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

/** Index of the first number that is at least `least`, in ascending numbers. */
function lowerBound(numbers: readonly number[] = [], least: number): number {
  let low = 0;
  for (let high = numbers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A slab of a selection, or a part of one. `data` is in C order without gaps, and valid until the next one is
 * requested.
 */
export interface Slab {
  /** In coordinates of the selection's result. */
  readonly region: Region;
  readonly data: ChunkData;
}

/** Splits the items of a slab from `from` up to `to`, in C order, into boxes without gaps. */
export function* slabParts(slab: Slab, from: number, to = product(slab.region.shape)): Generator<Slab> {
  const { data, region } = slab;
  const { shape } = region;
  if (data.kind === "variable" || (from === 0 && to === product(shape))) {
    yield slab;
    return;
  }
  const sizes = cStrides(shape);
  for (let at = from; at < to; ) {
    const coords = coordsAt(at, shape);
    // the outermost dimension with complete steps
    const along = sizes.findIndex((size) => at % size === 0 && at + size <= to);
    const size = sizes[along] ?? 1;
    const count = Math.min(Math.floor((to - at) / size), (shape[along] ?? 1) - (coords[along] ?? 0));
    const part = shape.map((n, d) => (d < along ? 1 : d === along ? count : n));
    const end = at + count * size;
    yield {
      region: { start: coords.map((c, d) => c + (region.start[d] ?? 0)), shape: part },
      data: {
        ...data,
        bytes: data.bytes.subarray(at * data.itemSize, end * data.itemSize),
        shape: part,
        strides: cStrides(part),
      },
    };
    at = end;
  }
}
