import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { ArrayToArrayCodec, ChunkPlace, CodecFactory } from "../../codecs/codec.ts";
import { fillData, fillItems } from "../../codecs/filled-data.ts";
import { roundToEven } from "../../codecs/filters/convert.ts";
import { numberTypeOf } from "../../codecs/filters/number-array.ts";
import { copyBox } from "../../codecs/kernels/copy-box.ts";
import { describeDataType } from "../../meta/data-type-name.ts";
import {
  type NumberDataType,
  type Numbers,
  numberKindOf,
  numbersPerItem,
  typedArrayOf,
} from "../../meta/number-kinds.ts";
import type { Region } from "../../streams/chunk.ts";
import { type Buffers, bytesEqual, plainBuffers } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { coordsAt, cStrides, product } from "../../util/shape.ts";
import { typedValues } from "../slabs/typed-values.ts";
import { castBooleans, castNumbers, type NotHeld, type NumberList, type Overflow } from "./cast-numbers.ts";
import type { MappedChunk, MappedValues, ValueMap } from "./value-map.ts";

/** Steps that convert the values of an array as its chunks are decoded; absent steps do nothing. */
export interface Conversion {
  readonly from: NumberDataType;
  readonly to: NumberDataType;
  /** Fill values of one item each; null if the format leaves the source's undefined. */
  readonly fromFill: Uint8Array | null;
  readonly toFill: Uint8Array | null;
  /** Decodes stored values, with NaN for missing ones. */
  readonly unpack?: ((values: Numbers) => NumberList) | undefined;
  /** If set, missing items become the new fill value: NaN, and stored values in `listed`. */
  readonly missing?: { readonly listed: readonly (number | bigint)[] } | undefined;
  readonly map?: ValueMap | undefined;
  /** Name of the map in errors: its module. */
  readonly mapName?: string | undefined;
  /** Packs values as `(value - offset) / scale`, and NaN as `missing`. */
  readonly pack?: { readonly scale: number; readonly offset: number; readonly missing: number } | undefined;
  readonly overflow: Overflow;
}

/**
 * Creates the codec that comes before all others and converts what they decode. It makes chunks in C order, with the
 * fill value beyond the edge of the array, and cannot encode.
 */
export function conversionCodec(conversion: Conversion): CodecFactory {
  const { from, to, fromFill } = conversion;
  const convert = chunkConverter(conversion);
  return (_, { spec: { shape } }): ArrayToArrayCodec => ({
    kind: "array-to-array",
    name: "convert_values",
    itemScratchSize: from.size + to.size + WORKING_SIZE,
    decodedStrides: cStrides(shape),
    encodedSpec: (spec) => ({ ...spec, dataType: from, fillValue: fromFill }),
    encode() {
      throw new ZarrflowError("unsupported-operation", "converted values are read-only");
    },
    async decode(data, buffers, place = wholeChunk(data.shape)) {
      if (data.kind !== "fixed") throw new ZarrflowError("codec-error", "the codec needs numbers");
      const { shape } = place.region;
      const converted = await convert(itemsOf(data, shape), { ...place, shape: data.shape, buffers });
      buffers.give(data.bytes);
      return converted;
    },
    decodeMissing: (buffers, place) => {
      const items = fillData(
        { dataType: from, fillValue: fromFill, shape: place.region.shape },
        plainBuffers,
      );
      return convert(items.bytes, { ...place, shape, buffers });
    },
  });
}

/** True if missing chunks may stay missing, because their items become the new fill value. */
export function keepsMissing(conversion: Conversion): boolean {
  const { map, fromFill, toFill } = conversion;
  if (map) return false;
  if (fromFill === null && toFill === null) return true;
  const fill = convertedFill(conversion);
  return fill instanceof Uint8Array && toFill !== null && bytesEqual(fill, toFill);
}

/** Bytes per item during conversion: a double, and another that a map computes from it. */
const WORKING_SIZE = 16;

function wholeChunk(shape: readonly number[]): ChunkPlace {
  const start = shape.map(() => 0);
  return { coords: start, region: { start, shape } };
}

/**
 * The items of a chunk that are inside the array, in C order. Returns the original bytes if they are contiguous there.
 */
function itemsOf(data: Extract<ChunkData, { readonly kind: "fixed" }>, shape: readonly number[]): Uint8Array {
  const { bytes, itemSize, strides } = data;
  const wanted = cStrides(shape);
  const isDense = shape.every((n, d) => n === data.shape[d] && (n === 1 || strides[d] === wanted[d]));
  if (isDense) return bytes;
  const items = new Uint8Array(product(shape) * itemSize);
  copyBox(bytes, { offset: 0, strides }, items, { offset: 0, strides: wanted }, shape, itemSize);
  return items;
}

interface ConvertedPlace extends ChunkPlace {
  /** Shape of the resulting chunk. */
  readonly shape: readonly number[];
  readonly buffers: Buffers;
}

/** Converts the fill value without a map: the bytes of one item, or the reason why the type cannot represent it. */
export function convertedFill(conversion: Conversion): Uint8Array | NotHeld {
  const { from, fromFill, to, toFill, pack, overflow } = conversion;
  const { values, isMissing } = unpacked(fromFill ?? new Uint8Array(from.size), [], conversion);
  if (isMissing?.[0] && toFill) return toFill;
  const bytes = new Uint8Array(to.size);
  // A real number becomes the real part of a complex one.
  const numbers = Array.from(values).slice(0, numbersPerItem(to));
  return cast(pack ? packed(numbers, pack) : numbers, to, bytes, overflow) ?? bytes;
}

interface Unpacked {
  readonly values: NumberList;
  /** 1 for each missing item that becomes the new fill value, 0 for the others; absent if there are none. */
  readonly isMissing?: Uint8Array | undefined;
}

/** Stored items as numbers, unpacked if requested, and which of them are missing. */
function unpacked(
  items: Uint8Array,
  shape: readonly number[],
  { from, unpack, missing }: Conversion,
): Unpacked {
  const data = { kind: "fixed", bytes: items, itemSize: from.size, shape, strides: cStrides(shape) } as const;
  const stored = typedValues(data, from) as Numbers;
  const values = unpack ? (unpack(stored) as Numbers) : stored;
  return { values, isMissing: missing && takeMissing(values, missing.listed) };
}

/** Replaces missing items by 0, which all types can represent, and returns their positions. */
function takeMissing(values: Numbers, listed: readonly (number | bigint)[]): Uint8Array | undefined {
  let isMissing: Uint8Array | undefined;
  const zero = typeof values[0] === "bigint" ? 0n : 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number | bigint;
    if (!Number.isNaN(value) && !(listed.length > 0 && listed.includes(value))) continue;
    isMissing ??= new Uint8Array(values.length);
    isMissing[i] = 1;
    values[i] = zero;
  }
  return isMissing;
}

function chunkConverter(conversion: Conversion) {
  const { to, toFill, map, pack, overflow } = conversion;
  let isMapChecked = false;
  return async (items: Uint8Array, place: ConvertedPlace): Promise<ChunkData> => {
    const { region, shape, buffers } = place;
    const { isMissing, ...unpackedItems } = unpacked(items, region.shape, conversion);
    let { values } = unpackedItems;
    if (map) {
      const again = isMapChecked ? undefined : (values as Numbers).slice();
      const mapped = await mappedBy(map, values as Numbers, place, conversion);
      if (again) assertSame(mapped, await mappedBy(map, again, place, conversion), conversion);
      isMapChecked = true;
      values = mapped;
    }
    if (pack) values = packed(values, pack);
    const isCut = region.shape.some((n, d) => n !== shape[d]);
    const bytes = buffers.take(product(shape) * to.size);
    try {
      const target = isCut ? new Uint8Array(product(region.shape) * to.size) : bytes;
      const notHeld = cast(values, to, target, overflow);
      if (notHeld) throw valuesNotHeld(notHeld, values.length, region, conversion);
      if (isMissing && toFill) putFill(target, isMissing, toFill);
      if (isCut) {
        const strides = cStrides(shape);
        fillItems(bytes, toFill);
        const lying = { offset: 0, strides: cStrides(region.shape) };
        copyBox(target, lying, bytes, { offset: 0, strides }, region.shape, to.size);
      }
      return { kind: "fixed", bytes, itemSize: to.size, shape, strides: cStrides(shape) };
    } catch (error) {
      buffers.give(bytes);
      throw error;
    }
  };
}

function packed(values: NumberList, { scale, offset, missing }: NonNullable<Conversion["pack"]>): NumberList {
  const result = new Float64Array(values.length);
  for (let i = 0; i < result.length; i++) {
    const value = Number(values[i]);
    result[i] = Number.isNaN(value) ? missing : roundToEven((value - offset) / scale);
  }
  return result;
}

function putFill(items: Uint8Array, isMissing: Uint8Array, fill: Uint8Array): void {
  for (let i = isMissing.indexOf(1); i >= 0; i = isMissing.indexOf(1, i + 1))
    items.set(fill, i * fill.length);
}

/** Calls a map for a chunk, and returns its values as numbers. */
async function mappedBy(
  map: ValueMap,
  values: Numbers,
  { region, coords }: ChunkPlace,
  { from, to, mapName }: Conversion,
): Promise<NumberList> {
  const data = values as MappedChunk["data"];
  const perItem = data.length / Math.max(1, product(region.shape));
  const failed = (reason: string, details: object, cause?: unknown) =>
    new ZarrflowError(
      "codec-error",
      `\`map\` ${reason}`,
      { ...(mapName !== undefined && { url: mapName }), ...details },
      { cause },
    );
  let mapped: MappedValues;
  try {
    mapped = await map({
      data,
      region: { start: [...region.start], shape: [...region.shape] },
      coords: [...coords],
    });
  } catch (cause) {
    if (isZarrflowError(cause)) throw cause;
    throw failed(`threw: ${cause instanceof Error ? cause.message : String(cause)}`, {}, cause);
  }
  const items = product(region.shape);
  const wanted = items * numbersPerItem(to);
  const isList = Array.isArray(mapped) || (ArrayBuffer.isView(mapped) && !(mapped instanceof DataView));
  const found = isList ? (mapped as NumberList).length : undefined;
  // Real numbers may be returned for complex ones.
  if (found !== wanted && found !== items) {
    throw failed("returned a number of values that does not match the items of the chunk", {
      expected: `${wanted} numbers for ${region.shape.join(" x ") || "a scalar"} items of ${describeDataType(to)}`,
      found: `${found ?? (mapped === null ? "null" : typeof mapped)}`,
      hint: `It receives ${data.length} numbers of ${describeDataType(from)}, ${perItem} per item, and must return the new ones in the same order.`,
    });
  }
  if (ArrayBuffer.isView(mapped)) return mapped;
  const list: readonly unknown[] = Array.from(mapped);
  const other = list.findIndex((value) => !["number", "bigint", "boolean"].includes(typeof value));
  if (other >= 0) {
    const value = `${list[other]}`;
    throw failed("returned something that is not a number", {
      value,
      expected: "numbers",
      found: typeof list[other],
    });
  }
  return list.map((value) => (typeof value === "bigint" ? value : Number(value)));
}

/** Checks that a map is deterministic, since a resumed run would mix its results. @throws `differs` */
function assertSame(a: NumberList, b: NumberList, { mapName }: Conversion): void {
  let at = 0;
  while (at < a.length && Object.is(a[at], b[at])) at++;
  if (at === a.length && a.length === b.length) return;
  throw new ZarrflowError("differs", "`map` returned different values when called again for the same chunk", {
    ...(mapName !== undefined && { url: mapName }),
    expected: `${a[at]}`,
    found: `${b[at]}`,
    hint: "It must compute values only from `data`, `region` and `coords`, because chunks may be read more than once and a run may be resumed.",
  });
}

/** Writes numbers as items of a type. Complex items take two numbers each, or one for the real part. */
function cast(
  values: NumberList,
  to: NumberDataType,
  target: Uint8Array,
  overflow: Overflow,
): NotHeld | undefined {
  const kind = numberKindOf(to);
  // The parts of complex numbers, and the integers that store times.
  const type = numberTypeOf((kind.part ?? kind).type);
  if (type === undefined) return castBooleans(values, target, overflow);
  const isReal = to.kind === "complex" && values.length === target.length / to.size;
  const numbers = isReal ? withImaginary(values) : values;
  const Own = typedArrayOf(to);
  if (Own && numbers instanceof Own) {
    target.set(new Uint8Array(numbers.buffer as ArrayBuffer, numbers.byteOffset, numbers.byteLength));
    return undefined;
  }
  return castNumbers(numbers, type, target, overflow);
}

function withImaginary(values: NumberList): Float64Array {
  const pairs = new Float64Array(2 * values.length);
  for (let i = 0; i < values.length; i++) pairs[2 * i] = Number(values[i]);
  return pairs;
}

function valuesNotHeld(
  { count, index, value }: NotHeld,
  length: number,
  { start, shape }: Region,
  { to, overflow, pack }: Conversion,
): ZarrflowError {
  const perItem = Math.max(1, length / Math.max(1, product(shape)));
  const place = coordsAt(Math.floor(index / perItem), shape).map((at, d) => at + (start[d] ?? 0));
  const shown = pack ? `${Number(value) * pack.scale + pack.offset}` : `${value}`;
  const type = describeDataType(to);
  const those = count === 1 ? "1 value of the chunk" : `${count} of ${length} values of the chunk`;
  const hasNoNearest = overflow === "clamp" || !Number.isFinite(Number(value));
  const hint = hasNoNearest
    ? "Only float types have NaN and infinities: use one of them, replace NaN with `fillValue` (--fill-value), or replace both with `map`."
    : 'Use a wider type, or replace such values by the nearest one with `overflow: "clamp"` (--overflow clamp).';
  const reason = `${those} cannot be stored as ${type}, the first at [${place.join(", ")}]`;
  return new ZarrflowError("invalid-option", reason, { expected: type, found: shown, hint });
}
