import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { packingOf } from "../meta/conventions/cf/packing.ts";
import type { DataType } from "../meta/data-type.ts";
import { describeDataType } from "../meta/data-type-name.ts";
import { dimensionNamed } from "../meta/dimension-names.ts";
import { isReal } from "../meta/number-kinds.ts";
import type { Selection, Shift } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { lastName } from "../util/node-path.ts";
import { FULL_TURN } from "../util/numbers.ts";
import { isObject, type OptionNames } from "../util/options.ts";

/** An index, or `[start, stop]` or `[start, stop, step]`. */
export type IndexRange =
  | number
  | readonly [number | null, number | null]
  | readonly [number | null, number | null, number];

/** Indices from a text, such as `2016:2018`, that may be years. The dimension decides once it is known. */
export interface MaybeYears {
  readonly maybeYears: IndexRange;
}

/**
 * Selection along one dimension: an index (which drops the dimension), `[start, stop]` or `[start, stop, step]`. `null`
 * means the end of the dimension on that side; negative numbers count from the end. Labels have the form `{ labels:
 * [45, 50] }`. The other members of the union come from texts and lookups.
 */
export type Range = IndexRange | Labeled | MaybeYears | CyclicRange;

/**
 * Ranges by dimension name, or in order, where `null` is the whole dimension. Dimensions without a range are selected
 * whole.
 */
export type SliceOption = Readonly<Record<string, Range>> | readonly (Range | null)[];

export function isMaybeYears(range: unknown): range is MaybeYears {
  return isObject(range) && "maybeYears" in range;
}

/** True if a range has labels, or might have. */
export function hasLabels(option: SliceOption): boolean {
  return isObject(option) && Object.values(option).some((range) => isLabeled(range) || isMaybeYears(range));
}

/** True if a range is a single label, or might be. */
export function hasPoints(option: SliceOption): boolean {
  if (!isObject(option)) return false;
  return Object.values(option).some((range) =>
    isLabeled(range) ? !Array.isArray(range.labels) : isMaybeYears(range),
  );
}

/** A selection, and the dimensions dropped by an index. */
export interface ResolvedSlice {
  readonly selection: Selection;
  readonly dropped: readonly number[];
  /** Ranges along cyclic dimensions, by dimension; absent without any. */
  readonly cyclic?: ReadonlyMap<number, CyclicRange>;
}

export function backwards(what: string, path?: string): ZarrflowError {
  return new ZarrflowError("invalid-selection", `${what} has a negative step, which is not supported`, {
    ...(path !== undefined && { path }),
    hint: "Items keep their stored order: use a step of 1 or more.",
  });
}

/** How to treat bounds beyond the dimension, and how to name the array. */
export interface ResolveOptions {
  /** Rejects bounds beyond the dimension; by default they are clamped to it, as in NumPy. */
  readonly exactBounds?: boolean;
  /** Name of the array, if it differs from the last part of its path. */
  readonly name?: string;
}

/**
 * Resolves `option` to items of an array. A stop beyond the end is clamped to it, and a start before the first item to
 * that item, as in NumPy.
 *
 * @throws `invalid-selection` for a wrong rank, an unknown dimension name, an index out of range, or a start beyond the
 *   end or after the stop; as `shiftOf`.
 */
export function resolveSlice(
  option: SliceOption,
  metadata: ArrayMetadata,
  path: string,
  { exactBounds = false, name: arrayName = lastName(path) }: ResolveOptions = {},
): ResolvedSlice {
  const { shape } = metadata;
  const ranges = inOrder(option, metadata, path);
  const start: number[] = [];
  const step: number[] = [];
  const counts: number[] = [];
  const dropped: number[] = [];
  const cyclic = new Map<number, CyclicRange>();
  let shift: Shift | undefined;
  shape.forEach((n, d) => {
    const given = ranges[d] ?? [null, null];
    const asked = isMaybeYears(given) ? given.maybeYears : given;
    if (isCyclic(asked)) {
      cyclic.set(d, asked);
      start.push(asked.cyclic.start);
      step.push(asked.cyclic.step);
      counts.push(asked.cyclic.count);
      shift ??= shiftOf(asked, d, metadata, arrayName);
      return;
    }
    const name = metadata.dimensionNames?.[d] ?? `${d}`;
    if (typeof asked === "number") {
      const index = fromEnd(asked, n);
      if (!Number.isSafeInteger(index) || index < 0 || index >= n) throw outside(asked, n, name, path);
      dropped.push(d);
      start.push(index);
      step.push(1);
      counts.push(1);
      return;
    }
    const [from, to, by = 1] = rangeParts(asked, name, path);
    if (Number.isSafeInteger(by) && by < 0) throw backwards(`the range along dimension ${name}`, path);
    if (!Number.isSafeInteger(by) || by < 1)
      throw invalidSelection(`the step along dimension ${name} must be a whole number, 1 or more`, { path });
    const clamp = (at: number, isClamped: boolean, edge: number) => (isClamped && !exactBounds ? edge : at);
    const first = bound(clamp(from ?? 0, (from ?? 0) < -n, 0), n, name, path);
    const end = bound(clamp(to ?? n, (to ?? n) > n, n), n, name, path);
    if (end < first) throw reversed([from, to], name, path);
    if (first === n && (to ?? 0) > n) throw outside(from ?? 0, n, name, path);
    start.push(first);
    step.push(by);
    counts.push(Math.max(0, Math.ceil((end - first) / by)));
  });
  const cycle = shape.map((_, d) => cyclic.get(d)?.cyclic.cycle ?? 0);
  const goesRound = cycle.some((items) => items > 0);
  const selection = { start, step, shape: counts, ...(goesRound && { cycle }), ...(shift && { shift }) };
  return { selection, dropped, ...(cyclic.size > 0 && { cyclic }) };
}

function reversed(ends: readonly (number | null)[], name: string, path: string): ZarrflowError {
  const range = ends.map((end) => end ?? "").join(":");
  return new ZarrflowError("invalid-selection", `${range} along dimension ${name} ends before it begins`, {
    path,
    hint: "Put the smaller index first; the stop is exclusive.",
  });
}

function inOrder(option: SliceOption, metadata: ArrayMetadata, path: string): readonly (Range | null)[] {
  if (!Array.isArray(option) && !isRecord(option)) throw invalidSelection("this is not a slice", { path });
  const rank = metadata.shape.length;
  if (Array.isArray(option)) {
    if (option.length > rank)
      throw invalidSelection(`${option.length} ranges for an array of ${rank} dimensions`, { path });
    return option;
  }
  const ranges = new Array<Range | null>(rank).fill(null);
  for (const [name, asked] of Object.entries(option as Readonly<Record<string, Range>>)) {
    try {
      ranges[dimensionNamed(name, metadata.dimensionNames ?? [], path)] = asked;
    } catch (error) {
      if (!(error instanceof ZarrflowError)) throw error;
      throw new ZarrflowError("invalid-selection", error.reason, error.details);
    }
  }
  return ranges;
}

/** True for plain objects, but not for instances of classes: a `Map`, a `Date`, a typed array. */
function isRecord(option: unknown): boolean {
  if (typeof option !== "object" || option === null) return false;
  const prototype: unknown = Object.getPrototypeOf(option);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Returns the bounds and the step of a range.
 *
 * @throws `invalid-selection` for a value that is neither an index nor a range.
 */
function rangeParts(
  asked: Exclude<Range, number | CyclicRange | MaybeYears>,
  name: string,
  path: string,
): Exclude<IndexRange, number> {
  if (isLabeled(asked)) {
    throw new ZarrflowError("invalid-selection", `labels along dimension ${name} cannot be looked up here`, {
      path,
      hint: "Use indices.",
    });
  }
  const isRange = Array.isArray(asked) && (asked.length === 2 || asked.length === 3);
  if (isRange && asked.every((one) => one === null || typeof one === "number")) return asked;
  const reason = `the range along dimension ${name} must be an index, [start, stop] or [start, stop, step]`;
  if (![asked].flat().some((one: unknown) => one instanceof Date)) throw invalidSelection(reason, { path });
  throw new ZarrflowError("invalid-selection", reason, {
    path,
    hint: `Dates are labels: pass them in \`sel\`, as in { sel: { ${name}: new Date(...) } }.`,
  });
}

function fromEnd(at: number, n: number): number {
  return at < 0 ? at + n : at;
}

function bound(at: number, n: number, name: string, path: string): number {
  const item = fromEnd(at, n);
  if (Number.isSafeInteger(item) && item >= 0 && item <= n) return item;
  throw outside(at, n, name, path);
}

function outside(at: number, n: number, name: string, path: string): ZarrflowError {
  if (!Number.isSafeInteger(at))
    return invalidSelection(`${at} along dimension ${name} is not a whole number`, { path });
  const date = writtenAsDate(at);
  const hint =
    date === undefined
      ? `Use 0 to ${n - 1}, or -1 to -${n} from the end. Write labels as 45.0 or 45..50 (in code: sel).`
      : `Use 0 to ${n - 1}, or -1 to -${n} from the end. Write a date as ${date} (in code: sel).`;
  return new ZarrflowError("invalid-selection", `${at} is outside dimension ${name}, which has ${n} items`, {
    path,
    hint: n === 0 ? "The dimension is empty." : hint,
  });
}

/** The date that plain digits may stand for, with hyphens: 20200101, 202001. */
function writtenAsDate(digits: number): string | undefined {
  const [, year, month = "", day] = /^(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?$/.exec(`${digits}`) ?? [];
  if (year === undefined) return undefined;
  return [year, month, day].filter(Boolean).join("-");
}

export function invalidSelection(
  reason: string,
  { path, meant }: { readonly path?: string; readonly meant?: string | undefined } = {},
): ZarrflowError {
  return new ZarrflowError("invalid-selection", reason, {
    ...(path !== undefined && { path }),
    hint: meant
      ? `Did you mean \`${meant}\`?`
      : "Write time=0:24,lat=10:20:2 or 0:24,10:20:2, in code { time: [0, 24] }; stops are exclusive.",
  });
}

/**
 * A value of a coordinate: a number, a text, or a date, as ISO 8601 text (complete or partial) or as a `Date` in UTC.
 */
export type Label = number | bigint | string | Date;

/**
 * Selection along one dimension by values of its coordinate: a single value, `[from, to]` or `[from, to, step]`. Both
 * ends are included, in either order; `null` leaves that side open.
 */
export type LabelRange =
  | Label
  | readonly [Label | null, Label | null]
  | readonly [Label | null, Label | null, number];

/** Labels by dimension name. */
export type SelOption = Readonly<Record<string, LabelRange>>;

/** Options for selecting by labels. */
export interface LabelOptions {
  /**
   * Selection by labels, in addition to the one by indices: `{ time: "2019-03", latitude: [45, 50] }`. Labels are
   * looked up in the array with the name of the dimension, in the same group or the nearest one above.
   */
  readonly sel?: SelOption | undefined;
  /** Selects the nearest item if no item has exactly the requested label. Applies to single labels. */
  readonly nearest?: boolean | undefined;
}

export const LABEL_OPTIONS: OptionNames<LabelOptions> = { sel: true, nearest: true };

/** A range of labels, kept among index ranges until it is looked up. */
export interface Labeled {
  readonly labels: LabelRange;
}

export function isLabeled(range: unknown): range is Labeled {
  return isObject(range) && "labels" in range;
}

/** Items found by labels along a cyclic dimension. The range may continue beyond the last item with the first. */
export interface CyclicRange {
  readonly cyclic: {
    readonly start: number;
    readonly step: number;
    readonly count: number;
    /** Number of items of a full cycle; 0 if the range does not reach beyond the last item. */
    readonly cycle: number;
    /**
     * Differences between the labels of results and stored labels, in full turns. Each applies from an item on; the
     * first begins at 0.
     */
    readonly turns: readonly { readonly from: number; readonly turns: number }[];
    /** The smallest and the largest selected label. */
    readonly extent: readonly [least: number, greatest: number];
    /** Names of the arrays that contain the labels: the coordinate and its bounds. */
    readonly names: readonly string[];
  };
}

export function isCyclic(range: unknown): range is CyclicRange {
  return isObject(range) && "cyclic" in range;
}

/**
 * Offsets added to the numbers of an array, so that its labels increase, or decrease, throughout the selection.
 * Undefined if the array has no labels of the dimension, or if all labels are as stored.
 *
 * @param name of the array
 * @throws `unsupported-operation` for packed integers in which a full turn is not a whole number.
 */
export function shiftOf(
  { cyclic: { turns, names } }: CyclicRange,
  dimension: number,
  { dataType, attributes }: ArrayMetadata,
  name: string,
): Shift | undefined {
  if (!names.includes(name) || turns.every((run) => run.turns === 0)) return undefined;
  if (!isReal(dataType)) return undefined;
  const turn = FULL_TURN / (packingOf(dataType, attributes)?.scale ?? 1);
  const whole = Math.round(turn);
  const isWhole = Math.abs(turn - whole) < 1e-6 * Math.abs(turn);
  if (dataType.kind !== "float" && !isWhole) {
    throw new ZarrflowError("unsupported-operation", "longitudes packed like this cannot be shifted", {
      path: name,
      expected: "a scale_factor that divides 360",
      found: FULL_TURN / turn,
      hint: "Use a range that does not cross the seam of the coordinate.",
    });
  }
  const add = isWhole ? whole : turn;
  return { dimension, runs: turns.map((run) => ({ from: run.from, add: run.turns * add })) };
}

/**
 * Full turns between the label of the first selected item and the stored label, for each dimension; undefined if all
 * are 0.
 */
export function turnsOf(
  cyclic: ReadonlyMap<number, CyclicRange> | undefined,
  rank: number,
): readonly number[] | undefined {
  const turns = Array.from({ length: rank }, (_, d) => cyclic?.get(d)?.cyclic.turns[0]?.turns ?? 0);
  return turns.some((n) => n !== 0) ? turns : undefined;
}

/**
 * Checks that an array can store the labels of a range.
 *
 * @throws `unsupported-operation` if its integers are too small
 */
export function assertHolds(
  { cyclic: { extent } }: CyclicRange,
  { dataType, attributes }: ArrayMetadata,
  path: string,
): void {
  if (storedHolds(dataType, attributes, extent)) return;
  const range = extent.map((label) => Number(label.toPrecision(12))).join(" to ");
  throw new ZarrflowError("unsupported-operation", `longitudes from ${range} do not fit its data type`, {
    path,
    expected: "labels that its packed integers can hold",
    found: describeDataType(dataType),
    hint: "Give the range in the convention of the stored longitudes (-180..180 or 0..360), or slice an array whose coordinate has a wider data type.",
  });
}

/** True if a data type, packed as the attributes say, can represent each of the labels. */
export function storedHolds(
  dataType: DataType,
  attributes: Readonly<Record<string, unknown>>,
  labels: readonly number[],
): boolean {
  if (dataType.kind !== "int" && dataType.kind !== "uint") return true;
  const { scale = 1, offset = 0, reread } = packingOf(dataType, attributes) ?? {};
  const bits = 8 * dataType.size;
  const isSigned = reread ? reread.signed : dataType.kind === "int";
  const [least, most] = isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return labels.every((label) => {
    const stored = (label - offset) / scale;
    return stored > least - 0.5 && stored < most + 0.5;
  });
}
