import fc from "fast-check";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import type { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { DecodedChunk, Region } from "../../src/streams/chunk.ts";
import type { Selection } from "../../src/streams/selection.ts";
import { coordsOf, indexOf } from "../../src/util/shape.ts";
import { ownPlaces, packedStrides, shuffled, vector } from "./arbitraries.ts";
import { itemsOf, refsOf, stringsOf, variableData } from "./support.ts";

/** An array in source chunks, and what is to become of it. */
export interface Case {
  readonly shape: readonly number[];
  readonly sourceChunk: readonly number[];
  readonly sourceStrides: readonly number[];
  /** Whether edge chunks hold as many items as the others. */
  readonly overhang: boolean;
  /** By source chunk, in C order of the grid. */
  readonly missing: readonly boolean[];
  /** Indexes of the source chunks in the order in which they arrive. */
  readonly arrival: readonly number[];
  readonly selection: Selection;
  /** The part of the target that is wanted, in items; all of it where absent. */
  readonly window: Region | undefined;
  readonly targetChunk: readonly number[];
  readonly targetStrides: readonly number[];
  readonly itemSize: number;
  readonly hasFill: boolean;
}

const axis = fc
  .record({
    length: fc.nat(9),
    sourceChunk: fc.integer({ min: 1, max: 10 }),
    targetChunk: fc.integer({ min: 1, max: 10 }),
    step: fc.constantFrom(1, 1, 1, 2, 3),
    whole: fc.boolean(),
  })
  .chain(({ length, step, whole, ...chunks }) =>
    fc.tuple(fc.nat(length), fc.nat(length), fc.nat(9), fc.nat(3)).map(([a, b, c, n]) => {
      const [from, to] = whole ? [0, length] : [Math.min(a, b), Math.max(a, b)];
      const count = Math.ceil((to - from) / step);
      return {
        ...chunks,
        length,
        start: from,
        step,
        count,
        window: wholeChunks(count, chunks.targetChunk, c, n),
      };
    }),
  );

/** The items of `more + 1` chunks from about the `from`th on. */
function wholeChunks(length: number, chunk: number, from: number, more: number) {
  const chunks = Math.ceil(length / chunk);
  const start = chunks === 0 ? 0 : (from % chunks) * chunk;
  return { start, length: Math.min(length - start, (more + 1) * chunk) };
}

export const anyCase: fc.Arbitrary<Case> = fc.array(axis, { maxLength: 3 }).chain((axes) => {
  const shape = axes.map(({ length }) => length);
  const sourceChunk = axes.map((a) => a.sourceChunk);
  const targetChunk = axes.map((a) => a.targetChunk);
  const chunks = refsOf(shape, sourceChunk).map(({ index }) => index);
  return fc.record({
    shape: fc.constant(shape),
    sourceChunk: fc.constant(sourceChunk),
    sourceStrides: ownPlaces(sourceChunk),
    overhang: fc.boolean(),
    missing: vector(chunks.length, fc.constantFrom(false, false, true)),
    arrival: shuffled(chunks),
    selection: fc.constant({
      start: axes.map(({ start }) => start),
      step: axes.map(({ step }) => step),
      shape: axes.map(({ count }) => count),
    }),
    window: fc.option(
      fc.constant({
        start: axes.map(({ window }) => window.start),
        shape: axes.map(({ window }) => window.length),
      }),
      { nil: undefined },
    ),
    targetChunk: fc.constant(targetChunk),
    targetStrides: packedStrides(targetChunk),
    itemSize: fc.constantFrom(1, 2, 3, 4, 6, 8, 16),
    hasFill: fc.boolean(),
  });
});

/** How the items of a data type are made for these tests, and read back. */
export interface Items<T> {
  readonly dataType: DataType;
  readonly fillValue: Uint8Array | null;
  /** The item that fills what no data came for. */
  readonly fill: T;
  at(index: number): T;
  /** A chunk of the items that `at` gives at `coords`; what is undefined is never to be read. */
  pack(given: Case, items: readonly (T | undefined)[], buffers: BufferPool): ChunkData;
  unpack(data: ChunkData): T[];
}

export function fixedItems({ itemSize, hasFill }: Case): Items<number[]> {
  const fill = Array.from({ length: itemSize }, (_, b) => (hasFill ? 200 + b : 0));
  return {
    dataType: { kind: "raw", size: itemSize },
    fillValue: hasFill ? new Uint8Array(fill) : null,
    fill,
    at: (index) => Array.from({ length: itemSize }, (_, b) => (index * 7 + b * 31 + 1) & 255),
    pack({ sourceChunk, sourceStrides }, items, buffers) {
      const extent = 1 + sourceStrides.reduce((sum, s, d) => sum + s * ((sourceChunk[d] ?? 1) - 1), 0);
      const bytes = buffers.take(extent * itemSize).fill(99);
      items.forEach((item, i) => {
        const coords = [...coordsOf(sourceChunk)][i] ?? [];
        const place = coords.reduce((sum, c, d) => sum + c * (sourceStrides[d] ?? 0), 0);
        if (item) bytes.set(item, place * itemSize);
      });
      return { kind: "fixed", bytes, itemSize, shape: sourceChunk, strides: sourceStrides };
    },
    unpack: itemsOf,
  };
}

export function stringItems({ hasFill }: Case): Items<string> {
  const fill = hasFill ? "füll" : "";
  return {
    dataType: { kind: "string" },
    fillValue: hasFill ? new TextEncoder().encode(fill) : null,
    fill,
    at: (index) => "åb".repeat(index % 4) + index,
    pack: ({ sourceChunk }, items, buffers) =>
      variableData(
        items.map((item) => item ?? "never read"),
        sourceChunk,
        buffers,
      ),
    unpack: stringsOf,
  };
}

/** Source chunks in their order of arrival, each counting how often it was released. */
export function piecesOf<T>(
  given: Case,
  items: Items<T>,
  buffers: BufferPool,
  released: number[],
): DecodedChunk[] {
  const { shape, sourceChunk, overhang, missing, arrival } = given;
  const refs = refsOf(shape, sourceChunk);
  return arrival.map((i): DecodedChunk => {
    const ref = refs[i];
    if (ref === undefined) throw new Error("no such chunk");
    const { region } = ref;
    const release = () => {
      released.push(i);
    };
    if (missing[i]) return { ...ref, release, data: undefined };
    const held = overhang ? sourceChunk : region.shape;
    const heldCase = overhang ? given : { ...given, sourceChunk: held };
    const contents = [...coordsOf(held)].map((c) =>
      c.every((n, d) => n < (region.shape[d] ?? 0))
        ? items.at(
            indexOf(
              c.map((n, d) => n + (region.start[d] ?? 0)),
              shape,
            ),
          )
        : undefined,
    );
    return { ...ref, release, data: items.pack(heldCase, contents, buffers) };
  });
}

/** The item of the result at `coords`, or undefined where its source chunk is missing. */
export function resultAt<T>(given: Case, items: Items<T>, coords: readonly number[]): T | undefined {
  const { shape, sourceChunk, selection, missing } = given;
  const source = coords.map((c, d) => (selection.start[d] ?? 0) + (selection.step[d] ?? 1) * c);
  const grid = shape.map((n, d) => Math.ceil(n / (sourceChunk[d] ?? 1)));
  const chunk = source.map((c, d) => Math.floor(c / (sourceChunk[d] ?? 1)));
  return missing[indexOf(chunk, grid)] ? undefined : items.at(indexOf(source, shape));
}
