import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { dimensionNamed } from "../meta/dimension-named.ts";
import type { Selection } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";

/**
 * What to take along one dimension: an index (the dimension is dropped), `[start, stop]`, or
 * `[start, stop, step]`; `null` for start or stop is the dimension's own end, negative ones count from the end.
 */
export type Range =
  | number
  | readonly [number | null, number | null]
  | readonly [number | null, number | null, number];

/** Ranges by dimension name, or in order, where `null` is all of a dimension; those not given are taken whole. */
export type SliceOption = Readonly<Record<string, Range>> | readonly (Range | null)[];

/** A selection, and which dimensions an index dropped. */
export interface ResolvedSlice {
  readonly selection: Selection;
  readonly dropped: readonly number[];
}

/**
 * Reads `time=0:24,lat=10:20:2,lon=5` or `0:24,10:20:2,5`.
 *
 * @throws `invalid-selection` saying what is valid.
 */
export function parseSlice(text: string): SliceOption {
  const parts = text.split(",").map((part) => part.trim());
  if (!parts.some((part) => part.includes("="))) return parts.map((part) => range(part, text));
  return Object.fromEntries(
    parts.map((part) => {
      const at = part.lastIndexOf("=");
      if (at < 1) throw invalid(`\`${part}\` in \`${text}\` has no dimension name`);
      return [part.slice(0, at).trim(), range(part.slice(at + 1), text)];
    }),
  );
}

function range(part: string, text: string): Range {
  const pieces = part.trim().split(":");
  const numbers = pieces.map((piece) => {
    const number = Number(piece.trim());
    if (!Number.isSafeInteger(number))
      throw invalid(`\`${part}\` in \`${text}\` is no range of whole numbers`);
    return piece.trim() === "" ? null : number;
  });
  const [start = null, stop = null, step = null] = numbers;
  if (pieces.length === 1 && start !== null) return start;
  if (pieces.length === 1 || pieces.length > 3) throw invalid(`\`${part}\` in \`${text}\` is no range`);
  return step === null ? [start, stop] : [start, stop, step];
}

/** The items that `option` means for an array. @throws `invalid-selection` for a wrong rank, name or range. */
export function resolveSlice(option: SliceOption, metadata: ArrayMetadata, path: string): ResolvedSlice {
  const { shape } = metadata;
  const ranges = inOrder(option, metadata, path);
  const start: number[] = [];
  const step: number[] = [];
  const counts: number[] = [];
  const dropped: number[] = [];
  shape.forEach((n, d) => {
    const asked = ranges[d] ?? [null, null];
    const name = metadata.dimensionNames?.[d] ?? `${d}`;
    if (typeof asked === "number") {
      const index = asked < 0 ? asked + n : asked;
      if (index < 0 || index >= n) {
        throw invalid(`index ${asked} is outside dimension ${name}, which has ${n} items`, path);
      }
      dropped.push(d);
      start.push(index);
      step.push(1);
      counts.push(1);
      return;
    }
    const [from, to, by = 1] = asked;
    if (!Number.isSafeInteger(by) || by < 1)
      throw invalid(`the step along dimension ${name} must be 1 or more`, path);
    const first = bound(from ?? 0, n, name, path);
    const end = bound(to ?? n, n, name, path);
    start.push(first);
    step.push(by);
    counts.push(Math.max(0, Math.ceil((end - first) / by)));
  });
  return { selection: { start, step, shape: counts }, dropped };
}

function inOrder(option: SliceOption, metadata: ArrayMetadata, path: string): readonly (Range | null)[] {
  const rank = metadata.shape.length;
  if (Array.isArray(option)) {
    if (option.length > rank)
      throw invalid(`${option.length} ranges for an array of ${rank} dimensions`, path);
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

function bound(at: number, n: number, name: string, path: string): number {
  const item = at < 0 ? at + n : at;
  if (Number.isSafeInteger(item) && item >= 0 && item <= n) return item;
  throw invalid(`${at} is outside dimension ${name}, which has ${n} items`, path);
}

function invalid(reason: string, path?: string): ZarrflowError {
  return new ZarrflowError("invalid-selection", reason, {
    ...(path !== undefined && { path }),
    hint: "Write time=0:24,lat=10:20:2 or 0:24,10:20:2, in code { time: [0, 24] }; an end is exclusive.",
  });
}
