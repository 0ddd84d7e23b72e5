import { parseJsonCut } from "../util/json-cut.ts";
import type { JsonObject } from "../util/json-value.ts";
import { joinKey } from "../util/node-path.ts";
import type { OptionNames } from "../util/options.ts";
import type { ZarrFormat } from "./array-metadata.ts";
import { isJsonObject, member } from "./assert-json.ts";
import type { Documents, Finding, FormatDefinition } from "./format.ts";
import type { FormatOptions } from "./formats.ts";
import { v3 } from "./v3/v3.ts";

/** Document names that identify the formats, in order of precedence. */
const NAMES = ["zarr.json", ".zarray", ".zgroup", "meta"] as const;

/** The root key that may list all nodes of a hierarchy; see `hierarchyFormat`. */
export const HIERARCHY_KEY = "zarr.json";

/** Keys that identify the format of a node at `path`, in order of precedence. */
export function detectionKeys(path: string): string[] {
  return NAMES.map((name) => joinKey(path, name));
}

/**
 * Detects the format of the node at `path` from the `detectionKeys` that exist; undefined if none does. A broken
 * `zarr.json` counts as v3, whose parser reports the error.
 */
export function detectFormat(
  documents: Documents,
  path: string,
): { readonly zarrFormat: ZarrFormat; readonly findings: readonly Finding[] } | undefined {
  const [first, ...others] = NAMES.filter((name) => documents.has(joinKey(path, name)));
  if (first === undefined) return undefined;
  const bytes = documents.get(joinKey(path, first));
  const draft = first === HIERARCHY_KEY && bytes ? hierarchyFormat(bytes) : undefined;
  const zarrFormat = draft ?? formatOf(first);
  const strangers = others.filter((name) => formatOf(name) !== zarrFormat);
  const message = `${strangers.join(" and ")} of another format found next to ${first}; ${first} is used`;
  return { zarrFormat, findings: strangers.length > 0 ? [{ message, kind: "other-format" }] : [] };
}

function formatOf(name: (typeof NAMES)[number]): ZarrFormat {
  if (name === "zarr.json") return "v3";
  return name === "meta" ? "v1" : "v2";
}

/**
 * The format of a hierarchy whose root has `bytes` as its `zarr.json`, if it is a draft of v3. Nodes of such a
 * hierarchy may have no documents at their own paths. Undefined for any other document.
 */
export function hierarchyFormat(bytes: Uint8Array): ZarrFormat | undefined {
  const json = tryParse(bytes);
  return isJsonObject(json) ? draftOf(json) : undefined;
}

/** The format alone identifies the hierarchy; other members may be large. */
const ALL_BUT_FORMAT = { levels: 1, isCut: ([name]: readonly string[]) => name !== "zarr_format" };

function tryParse(bytes: Uint8Array) {
  try {
    return parseJsonCut(bytes, ALL_BUT_FORMAT, { allowNonFinite: () => true }).json;
  } catch {
    return undefined;
  }
}

/** The draft that wrote a `zarr.json`, from the form of its `zarr_format`; undefined for v3 itself. */
export function draftOf(document: JsonObject): ZarrFormat | undefined {
  const format = member(document, "zarr_format");
  if (typeof format !== "string" || !/^https?:/.test(format)) return undefined;
  return Object.hasOwn(document, "metadata_key_suffix") ? "v3-draft-2020" : "v3-draft-2019";
}

/** Like `formatNamed`, but loads formats before v3 only when one of their nodes is read. */
export async function formatOnUse(name: ZarrFormat, options: FormatOptions = {}): Promise<FormatDefinition> {
  if (name === "v3") return v3;
  const { formatNamed } = await import("./formats.ts");
  return formatNamed(name, options);
}

/** Names of the options for reading documents. */
export const FORMAT_OPTIONS: OptionNames<FormatOptions> = { v1Order: true, v2: true, maxMetadata: true };
