// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  copy,
  create,
  type DataTypeOption,
  type NewArray,
  type OpenSource,
  openArray,
  type ValueChanges,
  type ZarrArray,
} from "../../../src/index.ts";
import { decoderOf } from "../../../src/run/slabs/decoder.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { coordsOf, cStrides, product } from "../../../src/util/shape.ts";
import { smallFloats } from "../../../src/util/small-floats.ts";
import { rangesOf } from "../../support/recipes.ts";
import { samples } from "../../support/samples.ts";

const REAL = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split(" ");
const TYPES = ["bool", ...REAL, "complex64", "complex128", "datetime64[s]"] as const;

interface Recipe {
  readonly dataType: string;
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly zarrFormat: "v1" | "v2" | "v3";
  readonly isTransposed: boolean;
  /** Chunks of a shard along each dimension, of v3. */
  readonly perShard: number | undefined;
  readonly isVariable: boolean;
  readonly fill: 0 | 1 | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** What of each chunk is stored: nothing, the fill value alone, or items. */
  readonly stored: readonly ("nothing" | "fill" | "items")[];
}

interface Change {
  readonly to: string | undefined;
  readonly fillValue: number | undefined;
  readonly unpack: boolean;
  readonly pack: ValueChanges["pack"] | undefined;
  readonly isMapped: boolean;
}

const axis = fc.record({
  n: fc.integer({ min: 1, max: 7 }),
  chunk: fc.integer({ min: 1, max: 4 }),
  newChunk: fc.integer({ min: 1, max: 8 }),
});

type Ranges = [number, number, number][];

interface Case {
  readonly recipe: Recipe;
  readonly change: Change;
  /** `isSharded`: chunks are put into shards of two along each dimension, in v3. */
  readonly how: Readonly<Record<"rechunks" | "isStaged" | "isSharded" | "isSliced" | "isTiny", boolean>> & {
    readonly to: "v2" | "v3" | undefined;
  };
  readonly newChunks: readonly number[];
  readonly ranges: Ranges;
}

const SCALED = { dataType: "int16", scale: 0.25, offset: 1 } as const;

const cases: fc.Arbitrary<Case> = fc
  .record({
    axes: fc.array(axis, { minLength: 1, maxLength: 3 }),
    isScalar: fc.nat(6).map((n) => n === 0),
    dataType: fc.constantFrom(...TYPES),
    zarrFormat: fc.constantFrom("v1", "v2", "v3"),
    isTransposed: fc.boolean(),
    perShard: fc.constantFrom(undefined, undefined, 1, 2),
    isVariable: fc.boolean(),
    fill: fc.constantFrom(0, 1, null),
    stored: fc.array(fc.constantFrom("nothing", "fill", "items", "items"), { minLength: 1, maxLength: 5 }),
    attributes: fc.record(
      {
        scale_factor: fc.constantFrom(0.5, 2),
        add_offset: fc.constantFrom(0.25, 10),
        missing_value: fc.constantFrom(3, 4),
        _FillValue: fc.constantFrom(2, 1),
        valid_min: fc.constant(1),
      },
      { requiredKeys: [] },
    ),
    to: fc.constantFrom(undefined, ...TYPES),
    fillValue: fc.constantFrom(undefined, undefined, 99),
    unpack: fc.boolean(),
    pack: fc.constantFrom(undefined, undefined, undefined, "int16", "uint8", "int32", SCALED),
    isMapped: fc.boolean(),
    how: fc.record({
      rechunks: fc.boolean(),
      isStaged: fc.boolean(),
      isSharded: fc.boolean(),
      to: fc.constantFrom(undefined, "v2", "v3"),
      isTiny: fc.boolean(),
      isSliced: fc.boolean(),
    }),
  })
  .map(({ axes, isScalar, ...rest }) => {
    const dims = isScalar && rest.zarrFormat !== "v1" ? [] : axes;
    const recipe: Recipe = {
      ...(rest as unknown as Recipe),
      shape: dims.map(({ n }) => n),
      chunks: dims.map(({ chunk }) => chunk),
      perShard: rest.zarrFormat === "v3" ? rest.perShard : undefined,
      isVariable: rest.isVariable && rest.zarrFormat !== "v1",
    };
    const { to, fillValue, unpack, pack, isMapped } = rest;
    const change = { to, fillValue, unpack, pack: pack as Change["pack"], isMapped };
    return { recipe, change, how: rest.how, newChunks: dims.map(({ newChunk }) => newChunk) };
  })
  .chain((one) => rangesOf(one.recipe.shape).map((ranges) => ({ ...one, ranges })));

const isComplex = (type: string) => type.startsWith("complex");
const isTime = (type: string) => type.startsWith("datetime");
const isReal = (type: string) => REAL.includes(type);
const isWide = (type: string) => /int64|datetime/.test(type);

async function made(recipe: Recipe, store: MemoryStore): Promise<ZarrArray> {
  const { dataType, shape, chunks, zarrFormat, perShard, isTransposed, isVariable, attributes } = recipe;
  const array: NewArray = {
    ...{ dataType: dataType as NewArray["dataType"], shape, chunks, zarrFormat, fillValue: fillOf(recipe) },
    ...(isTransposed && { order: "F" }),
    ...(perShard && { shards: chunks.map((n) => n * perShard) }),
    ...(isVariable && { dimensionNames: shape.map((_, d) => `d${d}`) }),
    ...(isReal(dataType) && { attributes: attributes as Record<string, unknown> }),
  };
  const writer = await create({ store, path: "a" }, array);
  const grid = shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1)));
  for (const [at, coords] of [...coordsOf(grid)].entries()) {
    const what = recipe.stored[at % recipe.stored.length];
    if (what === "nothing") continue;
    const start = coords.map((c, d) => c * (chunks[d] ?? 1));
    const part = start.map((s, d) => Math.min(chunks[d] ?? 1, (shape[d] ?? 0) - s));
    const value = (i: number) =>
      what === "fill" ? Number(recipe.fill ?? 0) : (at + i) % (dataType === "bool" ? 2 : 6);
    await writer.write({ start, shape: part }, itemsOf(dataType, product(part), value) as never);
  }
  await writer.close();
  return openArray({ store, path: "a" });
}

function fillOf({ dataType, fill, zarrFormat }: Recipe): NewArray["fillValue"] {
  if (fill === null) return zarrFormat === "v2" || zarrFormat === "v1" ? null : undefined;
  if (dataType === "bool") return fill === 1;
  if (isTime(dataType)) return BigInt(fill);
  return isComplex(dataType) ? [fill, 0] : fill;
}

function itemsOf(dataType: string, length: number, value: (i: number) => number): unknown {
  const items = Array.from({ length }, (_, i) => value(i));
  if (isWide(dataType)) return items.map(BigInt);
  if (dataType === "bool") return items.map((item) => item === 1);
  return isComplex(dataType) ? items.map((item) => [item, 0]) : items;
}

/** What stands for missing values in packed types. */
const LEAST: Readonly<Record<string, number>> = { int16: -(2 ** 15), int32: -(2 ** 31), uint8: 255 };

/** Whether it is refused at once: what no cast does. */
function isAllowed({ dataType }: Recipe, { to, pack, unpack, fillValue, isMapped }: Change): boolean {
  if (to !== undefined && pack !== undefined) return false;
  const target = to ?? dataType;
  if (fillValue !== undefined && !isReal(pack ? "int8" : target)) return false;
  if (unpack && !isReal(dataType)) return false;
  if (!isMapped && isComplex(dataType) && (pack !== undefined || !isComplex(target))) return false;
  if (!isMapped && (isTime(dataType) || isTime(target)) && (dataType !== target || pack !== undefined))
    return false;
  return true;
}

const float16 = smallFloats(10);

/** Numbers as a type has them; undefined where it cannot have one. */
function castTo(type: string, value: number): number | undefined {
  if (type === "float64" || type === "complex128") return value;
  if (type === "float32" || type === "complex64") return Math.fround(value);
  if (type === "float16") return float16.fromBits(float16.toBits(value));
  if (type === "bool") return value === 0 || value === 1 ? value : undefined;
  if (!Number.isInteger(value)) return undefined;
  const bits = Number(/\d+/.exec(type)?.[0] ?? 64);
  const isUnsigned = type.startsWith("uint");
  const most = 2 ** (isUnsigned ? bits : bits - 1) - 1;
  return value >= (isUnsigned ? 0 : -most - 1) && value <= most ? value : undefined;
}

function evenRounded(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

/** The map of the test: of values and of where they are. */
const mapOne = (value: number, at: readonly number[]) => value + at.reduce((sum, one) => sum + one, 0);

const map: ValueChanges["map"] = ({ data, region: { start, shape } }) => {
  const perItem = data.length / product(shape);
  const result: number[] = [];
  for (const [i, coords] of [...coordsOf(shape)].entries()) {
    const at = coords.map((c, d) => c + (start[d] ?? 0));
    result.push(mapOne(Number(data[i * perItem]), at));
  }
  return result;
};

/** The numbers that stand for missing items, by format and attributes. */
function missingOf({ zarrFormat, shape, attributes, fill, dataType, ...recipe }: Recipe): number[] {
  if (!isReal(dataType)) return [];
  const isVariable = recipe.isVariable || (zarrFormat === "v3" && shape.length === 0);
  const { _FillValue, missing_value } = attributes;
  const own = zarrFormat === "v3" || fill === null ? (_FillValue as number | undefined) : fill;
  return [isVariable ? own : undefined, missing_value as number | undefined].flatMap((value) => value ?? []);
}

async function read(array: ZarrArray, decode = false): Promise<number[]> {
  const { data } = await array.slice().read({ decode });
  const list = Array.from(data as ArrayLike<number | bigint>, Number);
  return isComplex(array.dataType) ? list.filter((_, i) => i % 2 === 0) : list;
}

/** The values before the last step: what is packed, or cast. */
async function modeled(array: ZarrArray, recipe: Recipe, change: Change): Promise<number[]> {
  const { unpack, isMapped, fillValue, pack } = change;
  const isMeant = (unpack || pack !== undefined) && isReal(recipe.dataType);
  const missing = isMeant ? [] : missingOf(recipe);
  const places = [...coordsOf(recipe.shape)];
  const values = await read(array, isMeant);
  const isFilled = fillValue !== undefined && !isMapped && pack === undefined;
  return values.map((value, i) => {
    if (isFilled && (Number.isNaN(value) || missing.includes(value))) return fillValue;
    return isMapped ? mapOne(value, places[i] ?? []) : value;
  });
}

/** What a slice takes. */
function sliced<T>(values: readonly T[], shape: readonly number[], ranges: Ranges): T[] {
  const strides = cStrides(shape);
  const lengths = ranges.map(([start, stop, step]) => Math.ceil((stop - start) / step));
  return [...coordsOf(lengths)].map((at) => {
    const index = at.reduce((sum, c, d) => {
      const [start, , step] = ranges[d] ?? [0, 0, 1];
      return sum + (start + c * step) * (strides[d] ?? 0);
    }, 0);
    return values[index] as T;
  });
}

/** The converted array, within the smallest budget that works where that is asked for. */
async function converted(
  source: OpenSource,
  { recipe, change, how, newChunks, ranges }: Case,
): Promise<ZarrArray> {
  const { to, isMapped, pack, unpack, fillValue } = change;
  const rechunks = how.rechunks && recipe.shape.length > 0;
  const isV3 = (how.to ?? recipe.zarrFormat) === "v3";
  const options = {
    arrays: {
      a: {
        ...(to !== undefined && { dataType: to as DataTypeOption }),
        ...(pack !== undefined && { pack }),
        ...(isMapped && { map }),
        ...{ unpack, fillValue },
      },
    },
    ...(rechunks && { chunks: newChunks }),
    ...(rechunks && how.isSharded && isV3 && { shards: newChunks.map((n) => 2 * n) }),
    ...(how.rechunks && how.isStaged && { strategy: "staged" as const }),
    ...(how.isSliced && { slice: ranges }),
    ...(how.to && { to: how.to }),
    ...{ verify: "values" as const },
  };
  const run = async (maxMemory?: number) => {
    const target = new MemoryStore();
    await copy(source, target, { ...options, ...(maxMemory !== undefined && { maxMemory }) });
    return openArray(target);
  };
  let budget = how.isTiny ? 1 : undefined;
  for (;;) {
    try {
      return await run(budget);
    } catch (error) {
      const needed = isZarrflowError(error, "budget-too-small") ? (error.details.neededBytes as number) : 0;
      if (needed === 0) throw error;
      // Documents take a part of it.
      budget = Math.max(needed, (budget ?? 0) + 4096);
    }
  }
}

const NOT_HELD = /cannot be (stored|packed)/;

test("converted values are those of the naive model", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { recipe, change, how, ranges } = one;
      fc.pre(isAllowed(recipe, change));
      const isSliced = how.isSliced && ranges.every(([start, stop]) => stop > start);
      const store = new MemoryStore();
      const array = await made(recipe, store);
      fc.pre(!change.unpack || decoderOf(array, { decode: true }).decode !== undefined);
      const all = await modeled(array, recipe, change);
      const values = isSliced ? sliced(all, recipe.shape, ranges) : all;
      let found: ZarrArray;
      try {
        found = await converted({ store, path: "a" }, { ...one, how: { ...how, isSliced } });
      } catch (error) {
        const isRefused = isZarrflowError(error, "invalid-option") && NOT_HELD.test(error.message);
        if (!isRefused) throw error;
        return;
      }
      const { scale_factor: scale = 1, add_offset: offset = 0 } = found.attributes as Record<string, number>;
      const fill = change.fillValue ?? LEAST[found.dataType] ?? 0;
      const packOne = (value: number) => (Number.isNaN(value) ? fill : evenRounded((value - offset) / scale));
      const expected = values.map((value) => castTo(found.dataType, change.pack ? packOne(value) : value));
      expect(await read(found)).toEqual(expected);
    }),
    { numRuns: samples(480) },
  );
}, 600_000);
