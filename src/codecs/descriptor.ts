import { toPlain } from "../util/json-plain.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { SettingPart, SettingValues } from "./option-parts.ts";

/** What a codec takes and gives. */
export type CodecKind = "array-to-array" | "array-to-bytes" | "bytes-to-bytes";

/**
 * What a codec is for. Asking for another compressor replaces compressors alone; filters and checksums stay. A serializer
 * makes bytes of items.
 */
export type CodecRole = "filter" | "serializer" | "compressor" | "checksum";

/** How long codecs take, from the fastest to the slowest: the classes that `flows/plan/costs.ts` has figures for. */
const COST_CLASSES = ["none", "lz4", "zstd", "deflate", "other"] as const;
export type CostClass = (typeof COST_CLASSES)[number];

/** The slowest of some classes; `none` where there are none. */
export function slowestOf(classes: readonly CostClass[]): CostClass {
  return COST_CLASSES[Math.max(0, ...classes.map((one) => COST_CLASSES.indexOf(one)))] ?? "other";
}

/** The names of a codec in documents, for each format that has it. */
export interface CodecAliases {
  /** `compression` of v1. */
  readonly v1?: string;
  /** `id` of v2 and of numcodecs. */
  readonly v2?: string;
  /** The last part of the URI in the drafts of v3. */
  readonly v3Draft?: string;
  /** `name` that is written to v3. One that begins with `numcodecs.` has its configuration in the form of v2. */
  readonly v3?: string;
  /** Other names that are read from v3. */
  readonly alsoV3?: readonly string[];
}

/** The items that a filter can encode, as kinds of NumPy's types, and what they are called. */
export interface FilteredItems {
  readonly kinds: string;
  readonly words: string;
}

export const FLOATS: FilteredItems = { kinds: "f", words: "floats" };
export const NUMBERS: FilteredItems = { kinds: "iuf", words: "integers or floats" };
export const BOOLEANS: FilteredItems = { kinds: "b", words: "booleans" };

/** A filter that looks at items: v3 has it as array -> array, all others as bytes -> bytes. */
export interface ItemFilter {
  readonly encodes: FilteredItems;
  /** The most that a setting can be, by the size of the items. */
  readonly most?: { readonly setting: string; readonly bySize: Readonly<Record<number, number>> };
  /** The setting that names the type of the items it is given, where it has one. */
  readonly input?: "dtype" | "decode_dtype";
  /** The type of what it gives, where no setting names it. */
  readonly output?: string;
}

/** What runs a codec, as docs/codecs.md says it. */
export interface CodecEngines {
  readonly node: string;
  readonly browser: string;
}

/** What is known of a codec before its code is loaded: all lists of codecs are made from these. */
export interface CodecDescriptor {
  /** The name in `CodecConfig`, whatever the format. */
  readonly name: string;
  readonly kind: CodecKind;
  readonly role: CodecRole;
  readonly aliases: CodecAliases;
  /** A function where the configuration decides. */
  readonly costClass: CostClass | ((configuration: JsonObject) => CostClass);
  /** Whether a part of a chunk is decoded no further than it reaches. */
  readonly decodesParts?: (configuration: JsonObject) => boolean;
  /** The configuration in words for people; by default each setting with its name. */
  readonly describe?: (configuration: JsonObject) => string;
  /** Settings that v3 defines, where a document of v3 may not have others; absent: all are kept. */
  readonly settings?: readonly string[];
  /** What it turns into bytes where it comes first among the filters of objects. */
  readonly objects?: "string" | "binary" | "object";
  /** Whether it stores items by their coords, so that their order in memory means nothing. */
  readonly orderless?: boolean;
  readonly itemFilter?: ItemFilter;
  /** The setting that lists the codecs of what it holds. */
  readonly nested?: string;
  /**
   * The configuration that `--codec NAME:...` means, by the parts after the name.
   *
   * @throws `invalid-option`
   */
  readonly parseOption?: (parts: readonly string[]) => JsonObject;
  /** The settings that are meant by the parts after its name, where `parseOption` does not read them. */
  readonly parts?: readonly SettingPart[];
  /** The setting that is the size of an item where it is not stated. */
  readonly itemSize?: string;
  /** Whether values that are read are not all those that were written. */
  readonly isLossy?: boolean;
  /** The values that its settings can have where it is asked for; documents may have others, which old writers knew. */
  readonly allowed?: Readonly<Record<string, SettingValues>>;
  readonly engines?: CodecEngines;
  /** Fetches the factory, a `CodecFactory`, when the codec is first wanted; absent where there is no implementation. */
  readonly load?: () => Promise<unknown>;
  /** Why it is not implemented. */
  readonly refused?: string;
}

export const KERNEL: CodecEngines = { node: "kernel", browser: "kernel" };
export const TYPESCRIPT: CodecEngines = { node: "TypeScript", browser: "TypeScript" };

/** Describes a configuration by the values of these settings alone. */
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
