import { type JsonObject, type JsonValue, toPlain } from "../util/json-value.ts";
import type { SettingPart, SettingValues } from "./option-parts.ts";

/** Input and output of a codec, in encoding order. */
export type CodecKind = "array-to-array" | "array-to-bytes" | "bytes-to-bytes";

/**
 * The purpose of a codec. Selecting another compressor replaces only compressors; filters and checksums stay. A
 * serializer converts items to bytes.
 */
export type CodecRole = "filter" | "serializer" | "compressor" | "checksum";

/** Speed classes of codecs, from fastest to slowest; `plan/costs.ts` has figures for each. */
const COST_CLASSES = ["none", "lz4", "zstd", "deflate", "other"] as const;
export type CostClass = (typeof COST_CLASSES)[number];

/** The slowest of some classes; `none` if the list is empty. */
export function slowestOf(classes: readonly CostClass[]): CostClass {
  return COST_CLASSES[Math.max(0, ...classes.map((one) => COST_CLASSES.indexOf(one)))] ?? "other";
}

/** The names of a codec in documents of each format that has it. */
export interface CodecAliases {
  /** `compression` of v1. */
  readonly v1?: string;
  /** `id` of v2 and of numcodecs. */
  readonly v2?: string;
  /** The last part of the URI in the drafts of v3. */
  readonly v3Draft?: string;
  /** `name` written to v3. If it starts with `numcodecs.`, the configuration has the form of v2. */
  readonly v3?: string;
  /** Other names that are accepted in v3. */
  readonly alsoV3?: readonly string[];
}

/** The items that a filter can encode: kinds of NumPy types, and a name for messages. */
export interface FilteredItems {
  readonly kinds: string;
  readonly words: string;
}

export const FLOATS: FilteredItems = { kinds: "f", words: "floats" };
export const NUMBERS: FilteredItems = { kinds: "iuf", words: "integers or floats" };
export const BOOLEANS: FilteredItems = { kinds: "b", words: "booleans" };

/** A filter that depends on the item type: array -> array in v3, bytes -> bytes in all other formats. */
export interface ItemFilter {
  readonly encodes: FilteredItems;
  /** The setting that cannot be larger than the number of bits in the significand of the items. */
  readonly significand?: string;
  /** The setting that names the type of the input items, if there is one. */
  readonly input?: "dtype" | "decode_dtype";
  /** The type of the output items, if no setting names it. */
  readonly output?: string;
}

/** The implementation of a codec, as listed in docs/codecs.md. */
export interface CodecEngines {
  readonly node: string;
  readonly browser: string;
}

/** Describes a codec without loading its code; all lists of codecs are made from descriptors. */
export interface CodecDescriptor {
  /** The name in `CodecConfig`, for all formats. */
  readonly name: string;
  readonly kind: CodecKind;
  readonly role: CodecRole;
  readonly aliases: CodecAliases;
  /** A function if it depends on the configuration. */
  readonly costClass: CostClass | ((configuration: JsonObject) => CostClass);
  /** True if a part of a chunk can be decoded without the rest. */
  readonly decodesParts?: (configuration: JsonObject) => boolean;
  /** Describes the configuration for people; by default each setting with its name. */
  readonly describe?: (configuration: JsonObject) => string;
  /** The only settings that a v3 document may have; absent if all are kept. */
  readonly settings?: readonly string[];
  /** The objects that it converts to bytes when it is the first filter of an object array. */
  readonly objects?: "string" | "binary" | "object";
  /** True if it stores items by coords, so that their order in memory does not matter. */
  readonly orderless?: boolean;
  readonly itemFilter?: ItemFilter;
  /** The setting that lists its nested codecs. */
  readonly nested?: string;
  /**
   * Parses the parts after the name in `--codec NAME:...`.
   *
   * @throws `invalid-option`
   */
  readonly parseOption?: (parts: readonly string[]) => JsonObject;
  /** The settings given by the parts after its name, if there is no `parseOption`. */
  readonly parts?: readonly SettingPart[];
  /** The setting that defaults to the item size. */
  readonly itemSize?: string;
  /** True if the values read back can differ from those written. */
  readonly isLossy?: boolean;
  /** Accepted values of settings when a user selects the codec; documents may contain others, from old writers. */
  readonly allowed?: Readonly<Record<string, SettingValues>>;
  readonly engines?: CodecEngines;
  /** Loads the factory, a `CodecFactory`, on first use; absent if there is no implementation. */
  readonly load?: () => Promise<unknown>;
  /** Why it is not implemented. */
  readonly refused?: string;
}

export const KERNEL: CodecEngines = { node: "kernel", browser: "kernel" };
export const TYPESCRIPT: CodecEngines = { node: "TypeScript", browser: "TypeScript" };

/** Describes a configuration by the values of these settings only. */
export function describeValues(...names: readonly string[]): (configuration: JsonObject) => string {
  return (configuration) =>
    names
      .flatMap((name) => (configuration[name] === undefined ? [] : describeValue(configuration[name])))
      .join(", ");
}

export function describeSettings(configuration: JsonObject): string {
  return Object.entries(configuration)
    .map(([name, value]) => `${name}=${describeValue(value)}`)
    .join(", ");
}

export function describeValue(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(describeValue).join(", ")}]`;
  const plain = toPlain(value);
  return typeof plain === "object" ? JSON.stringify(plain) : String(plain);
}
