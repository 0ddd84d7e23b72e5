import { coordinatesOf } from "../flows/request/group-arrays.ts";
import { arraysAround } from "../flows/request/labels/find-coordinate.ts";
import { type OpenSlice, slice } from "../flows/slice.ts";
import { locationOf, nameOf, type ZarrArray } from "../hierarchy/node.ts";
import { axesFromAbove } from "../hierarchy/open/above-on-use.ts";
import { insideOf, type Slice } from "../hierarchy/slice.ts";
import type { CyclicRange, Range } from "../hierarchy/slice-option.ts";
import { type DataType, isFixed } from "../meta/data-type.ts";
import { withAxes } from "../meta/dimension-names.ts";
import { decoderOf, hasFlags } from "../run/slabs/decoder.ts";
import type { ValueDecodingOptions } from "../run/slabs/raw.ts";
import { budgetTooSmall } from "../streams/budget-too-small.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { uniqueName } from "../util/names.ts";
import { cStrides, product } from "../util/shape.ts";
import { formatBytes } from "../util/units.ts";
import { Column, type ColumnSource, type Rows, StreamedValues } from "./column.ts";
import { decodedSlice } from "./decoded-slice.ts";

/** Coordinates may take a quarter of the memory, and so may buffered rows. */
const PART = 4;
/** Estimated bytes of an item of varying size. */
const VARIABLE_BYTES = 64;

/** A dimension of a table, with the selected items. */
interface Dimension {
  readonly name: string;
  /** Length of the array's dimension. */
  readonly length: number;
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly isDropped: boolean;
  /** The selected range along a cyclic dimension. */
  readonly cyclic?: CyclicRange | undefined;
}

/** An open array of a table, with its selected dimensions. */
interface Part {
  readonly array: ZarrArray;
  readonly name: string;
  readonly dimensions: readonly Dimension[];
}

/** Slices as a table: one row per item, in C order. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rowCount: number;
  /** Maximum number of bytes of rows that a writer buffers. */
  readonly memory: number;
  /**
   * Iterates over rows in order, at most `max` at a time. Values of columns are valid until the next rows are
   * requested.
   */
  rows(max: number): AsyncGenerator<Rows>;
  close(): Promise<void>;
}

/**
 * Opens slices as a table, like xarray's `to_dataframe`: the dimensions, the other coordinates, then the arrays. An
 * array with fewer dimensions than the others is repeated.
 *
 * @throws `invalid-option` for arrays with different dimensions; `unsupported-operation` for structures and objects;
 *   `resource-limit` for coordinates that take more than a quarter of the memory.
 */
export async function openTable(
  slices: readonly Slice[],
  { decode = true, flags }: ValueDecodingOptions,
): Promise<Table> {
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const one of closing.splice(0)) await one();
  };
  try {
    const parts: Part[] = [];
    for (const one of slices) {
      const opened = await insideOf(one).open();
      closing.push(opened.close);
      parts.push(await partOf(opened.array, opened.resolved, insideOf(one).options.signal));
    }
    return { ...(await tableOf(slices, parts, { decode, flags })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function tableOf(
  slices: readonly Slice[],
  parts: readonly Part[],
  options: ValueDecodingOptions,
): Promise<Omit<Table, "close">> {
  const [first] = slices;
  const [widest] = parts.toSorted((a, b) => b.dimensions.length - a.dimensions.length);
  if (first === undefined || widest === undefined) throw new TypeError("a table needs a slice");
  const { sel: _, nearest: __, ...reading } = insideOf(first).options;
  const maxMemory = memoryLimit(reading);
  const shape = widest.dimensions.filter(({ isDropped }) => !isDropped).map(({ count }) => count);
  const names = namesOf(widest);
  const decodingOf = (array: ZarrArray) => ({ ...options, flags: options.flags && hasFlags(array) });
  const isStreamed = (part: Part) => `${namesOf(part)}` === `${names}`;
  for (const part of parts) assertWithin(part, widest);
  const perStream = Math.floor((maxMemory * (PART - 1)) / PART / parts.filter(isStreamed).length);
  const streams: StreamedValues[] = [];
  let heldBytes = 0;

  const sliced = ({ array }: Part, dimensions: readonly Dimension[], memory = maxMemory) =>
    slice(array, dimensions.map(rangeOf), { ...reading, maxMemory: memory });
  const held = async (part: Part, isCoordinate: boolean): Promise<ColumnSource> => {
    const { array, dimensions } = part;
    const { dataType } = array.metadata;
    const counts = dimensions.map(({ count }) => count);
    heldBytes += product(counts) * (isFixed(dataType) ? dataType.size : VARIABLE_BYTES);
    if (heldBytes * PART > maxMemory) throw tooLarge(array, maxMemory);
    const decoding = isCoordinate ? { ...options, flags: false } : decodingOf(array);
    const { decoder, slice: stored } = await decodedSlice(sliced(part, dimensions), () =>
      decoderOf(array, decoding, isCoordinate),
    );
    const { data } = await stored.read();
    const values = decoder.decode ? decoder.decode(data) : data;
    return { ...decoder, values, strides: stridesIn(part, widest) };
  };

  const columns: Column[] = [];
  const taken = new Set<string>();
  const add = (name: string, source: ColumnSource) => {
    for (const column of Column.of(uniqueName(name, taken), source, shape)) {
      taken.add(column.name);
      columns.push(column);
    }
  };
  const own = new Set(parts.map(({ array }) => locationOf(array)));
  const found = await coordinatesOf(
    widest.array,
    widest.dimensions.map(({ name }) => name),
    arraysAround(reading.signal),
  );
  const others = [];
  const named = [...parts.map(({ array }) => array), ...found.others];
  // no array has flags: the error is about the first one
  if (options.flags && !named.some(hasFlags)) decoderOf(widest.array, options);
  for (const [d, dimension] of widest.dimensions.entries()) {
    const coordinate = found.ofDimensions[d];
    if (coordinate && own.has(locationOf(coordinate))) continue;
    const part = coordinate && { array: coordinate, name: dimension.name, dimensions: [dimension] };
    if (dimension.isDropped) others.push(...(part ? [part] : []));
    else
      add(
        dimension.name,
        part ? await held(part, true) : counted(dimension, stridesIn({ dimensions: [dimension] }, widest)),
      );
  }
  for (const part of others) add(part.name, await held(part, true));
  for (const array of found.others) {
    if (own.has(locationOf(array))) continue;
    const dimensions = (array.dimensionNames ?? []).flatMap(
      (name) => widest.dimensions.find((one) => one.name === name) ?? [],
    );
    add(nameOf(array), await held({ array, name: "", dimensions }, false));
  }
  for (const part of parts) {
    if (!isStreamed(part)) {
      add(part.name, await held(part, false));
      continue;
    }
    const { decoder, slice: stored } = await decodedSlice(sliced(part, part.dimensions, perStream), () =>
      decoderOf(part.array, decodingOf(part.array)),
    );
    const stream = new StreamedValues(stored, part.array, decoder);
    streams.push(stream);
    add(part.name, { ...decoder, stream });
  }
  const rowCount = product(shape);
  return {
    columns,
    rowCount,
    memory: Math.floor(maxMemory / PART),
    rows: (max) => withWholeBudget(rowsOf(streams, rowCount, max), maxMemory, perStream),
  };
}

/**
 * Iterates over rows. If a stream's part of the budget is too small, the error names the whole budget that would
 * suffice.
 */
async function* withWholeBudget(
  rows: AsyncGenerator<Rows>,
  maxMemory: number,
  perStream: number,
): AsyncGenerator<Rows> {
  try {
    yield* rows;
  } catch (error) {
    if (!isZarrflowError(error, "budget-too-small")) throw error;
    const needed = Math.ceil((error.details.neededBytes / perStream) * maxMemory);
    throw budgetTooSmall(needed, maxMemory, error.details.path ?? "");
  }
}

async function* rowsOf(
  streams: readonly StreamedValues[],
  rowCount: number,
  max: number,
): AsyncGenerator<Rows> {
  try {
    for (let start = 0; start < rowCount; ) {
      let count = Math.min(max, rowCount - start);
      for (const stream of streams) count = Math.min(count, await stream.available());
      for (const stream of streams) stream.take(count);
      yield { start, count };
      start += count;
    }
    for (const stream of streams) await stream.available();
  } finally {
    for (const stream of streams) await stream.end();
  }
}

/** An array with unique names of its dimensions, for use as columns. */
async function partOf(
  array: ZarrArray,
  { selection, dropped, cyclic }: OpenSlice["resolved"],
  signal: AbortSignal | undefined,
): Promise<Part> {
  const { dimensionNames = [] } = withAxes(array.metadata, await axesFromAbove(array, signal));
  const taken = new Set<string>();
  const dimensions = array.shape.map((length, d) => {
    const name = uniqueName(dimensionNames[d] || `dim_${d}`, taken);
    taken.add(name);
    return {
      name,
      length,
      start: selection.start[d] ?? 0,
      step: selection.step[d] ?? 1,
      count: selection.shape[d] ?? 0,
      isDropped: dropped.includes(d),
      cyclic: cyclic?.get(d),
    };
  });
  return { array, name: nameOf(array), dimensions };
}

function namesOf({ dimensions }: Pick<Part, "dimensions">): string[] {
  return dimensions.map(({ name }) => JSON.stringify(name));
}

/** Distance in an array's items, in C order, between neighbors along each dimension of the table. */
function stridesIn({ dimensions }: Pick<Part, "dimensions">, widest: Part): number[] {
  const strides = cStrides(dimensions.map(({ count }) => count));
  return widest.dimensions
    .filter(({ isDropped }) => !isDropped)
    .map(({ name }) => strides[dimensions.findIndex((one) => one.name === name)] ?? 0);
}

/** Numbers the selected items of a dimension without a coordinate from 0, as xarray does. */
function counted({ count }: Dimension, strides: readonly number[]): ColumnSource {
  const values = BigInt64Array.from({ length: count }, (_, i) => BigInt(i));
  return { dataType: { kind: "int", size: 8 } satisfies DataType, values, strides };
}

function rangeOf({ start, step, count, isDropped, cyclic }: Dimension): Range {
  if (cyclic) return cyclic;
  return isDropped ? start : [start, count === 0 ? start : start + step * (count - 1) + 1, step];
}

/** @throws `invalid-option` */
function assertWithin({ array, dimensions }: Part, widest: Part): void {
  const isSame = (a: Dimension, b: Dimension) =>
    a.name === b.name && a.start === b.start && a.step === b.step && a.count === b.count;
  const other = dimensions.find((one) => !widest.dimensions.some((wide) => isSame(one, wide)));
  if (other === undefined) return;
  throw new ZarrflowError("invalid-option", "a table needs arrays with the same dimensions", {
    path: array.path,
    expected: `dimensions of \`${widest.array.path}\`: ${widest.dimensions.map(({ name, count }) => `${name} ${count}`).join(", ")}`,
    found: `${other.name} ${other.count}`,
    hint: "Write each to its own file, or all to .npz.",
  });
}

function tooLarge({ path }: ZarrArray, maxMemory: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "this array is too large to be repeated in every row", {
    path,
    expected: `at most ${formatBytes(maxMemory / PART)} together with all other coordinates`,
    hint: "Allow more memory with --max-mem (in code maxMemory), or take a smaller slice.",
  });
}
