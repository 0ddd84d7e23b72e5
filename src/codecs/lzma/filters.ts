import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { ConfigReader } from "../config-reader.ts";
import { hasLiteralBits, type LzmaProperties } from "./model.ts";

/** Filters in encoding order: differences, then a compressor. */
export interface FilterChain {
  /** Distances of the delta filters. */
  readonly deltas: readonly number[];
  readonly compressor: Compressor;
}

export interface Compressor extends LzmaProperties {
  readonly kind: "lzma1" | "lzma2";
  /** The longest distance of a match, in bytes. */
  readonly dictionarySize: number;
  /** Effort from 0 to 9. */
  readonly preset: number;
}

export const DELTA = 3;
export const LZMA2 = 33;
/** 2^62 + 1; compared as text, because no JavaScript number can represent it. */
const LZMA1 = "4611686018427387905";
const BRANCH_FILTERS = new Map([
  [4, "x86"],
  [5, "PowerPC"],
  [6, "IA-64"],
  [7, "ARM"],
  [8, "ARM-Thumb"],
  [9, "SPARC"],
  [10, "ARM64"],
  [11, "RISC-V"],
]);

const MAX_DELTA = 256;
const MAX_FILTERS = 4;
const DEFAULT_PRESET = 6;
/** A bit of the preset for "extreme", which takes more time. */
const EXTREME = 2 ** 31;
const MIB = 2 ** 20;
/** Dictionary sizes of the presets 0 to 9. */
const DICTIONARY_SIZES = [
  MIB / 4,
  MIB,
  2 * MIB,
  4 * MIB,
  4 * MIB,
  8 * MIB,
  8 * MIB,
  16 * MIB,
  32 * MIB,
  64 * MIB,
];
const MIN_DICTIONARY = 4096;

/**
 * The filter chain of a preset, or of the default preset if it is undefined.
 *
 * @throws `invalid-metadata`
 */
export function presetChain(kind: Compressor["kind"], preset: number | undefined): FilterChain {
  return { deltas: [], compressor: { kind, lc: 3, lp: 0, pb: 2, ...effortOf(preset, "preset") } };
}

/**
 * The filter chain that `filters` of a configuration states.
 *
 * @throws `invalid-metadata`, `unsupported-codec`
 */
export function filterChain(filters: JsonValue): FilterChain {
  if (!Array.isArray(filters) || filters.length === 0 || filters.length > MAX_FILTERS) {
    throw invalid("`filters` must be a list of one to four filters", filters);
  }
  const deltas: number[] = [];
  for (const [i, json] of filters.entries()) {
    if (json === null || typeof json !== "object" || Array.isArray(json) || json instanceof JsonNumber) {
      throw invalid("a filter must be an object with an `id`", json);
    }
    const settings = new ConfigReader(json, "filters");
    const id = filterId(settings.value("id"));
    const isLast = i === filters.length - 1;
    if (id === DELTA && !isLast) {
      deltas.push(settings.integer("dist", 1, MAX_DELTA, 1));
    } else if ((id === LZMA2 || id === LZMA1) && isLast) {
      return { deltas, compressor: compressorOf(id === LZMA2 ? "lzma2" : "lzma1", settings) };
    } else {
      assertNoBranchFilter(id);
      throw invalid(
        "`filters` must be delta filters followed by one LZMA filter",
        settings.value("id") ?? null,
      );
    }
  }
  throw invalid("`filters` must end with an LZMA filter", filters);
}

/** @throws `unsupported-codec` if `id` is a filter for machine code. */
export function assertNoBranchFilter(id: unknown): void {
  const machine = BRANCH_FILTERS.get(Number(id));
  if (machine === undefined) return;
  throw new ZarrflowError("unsupported-codec", `the filter for ${machine} code is not supported`, {
    codec: "lzma",
    value: id,
    hint: "The filter is meant for executables; rewrite the array without it.",
  });
}

/** The id as a number, or as text if no JavaScript number can represent it. */
function filterId(value: JsonValue | undefined): number | string {
  if (value instanceof JsonNumber) return value.text;
  // 2^62 + 1 loses its last digits as a JavaScript number.
  if (value === 2 ** 62) return LZMA1;
  if (typeof value === "number") return value;
  throw invalid("a filter needs an `id`, which is a number", value ?? null);
}

function compressorOf(kind: Compressor["kind"], settings: ConfigReader): Compressor {
  const preset = settings.value("preset") === undefined ? undefined : settings.number("preset");
  const effort = effortOf(preset, "filters");
  const lc = settings.integer("lc", 0, 4, 3);
  const lp = settings.integer("lp", 0, 4, 0);
  const pb = settings.integer("pb", 0, 4, 2);
  if (!hasLiteralBits({ lc, lp })) throw invalid("the sum of `lc` and `lp` must not be above 4", lc + lp);
  const dictionarySize = settings.integer("dict_size", MIN_DICTIONARY, 2 ** 32 - 1, effort.dictionarySize);
  return { kind, lc, lp, pb, preset: effort.preset, dictionarySize };
}

function effortOf(
  stated: number | undefined,
  setting: "preset" | "filters",
): Pick<Compressor, "preset" | "dictionarySize"> {
  const level = stated ?? DEFAULT_PRESET;
  const preset = level >= EXTREME ? level - EXTREME : level;
  const dictionarySize = DICTIONARY_SIZES[preset];
  if (dictionarySize === undefined) throw invalid("`preset` must be an integer from 0 to 9", level, setting);
  return { preset, dictionarySize };
}

function invalid(reason: string, value: JsonValue, setting = "filters"): ZarrflowError {
  return new ZarrflowError("invalid-metadata", reason, { setting, value: JSON.stringify(value) });
}

/** Replaces each byte by its difference from the byte `distance` before, in place. */
export function encodeDelta(bytes: Uint8Array, distance: number): void {
  for (let i = bytes.length - 1; i >= distance; i--) {
    bytes[i] = (bytes[i] as number) - (bytes[i - distance] as number);
  }
}

/** Adds to each byte the byte `distance` before, in place. */
export function decodeDelta(bytes: Uint8Array, distance: number): void {
  for (let i = distance; i < bytes.length; i++) {
    bytes[i] = (bytes[i] as number) + (bytes[i - distance] as number);
  }
}
