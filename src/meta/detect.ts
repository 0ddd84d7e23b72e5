import { parseJsonCut } from "../util/json-cut.ts";
import type { ZarrFormat } from "./array-metadata.ts";
import { isObject } from "./assert-json.ts";
import type { Documents, Finding } from "./format.ts";
import { joinKey } from "./join-key.ts";
import { draftOf } from "./v3-draft/draft-of.ts";

/** Names that distinguish the formats, in the order in which they count. */
const NAMES = ["zarr.json", ".zarray", ".zgroup", "meta"] as const;

/** The key at a hierarchy's root that may list all its nodes; see `hierarchyFormat`. */
export const HIERARCHY_KEY = "zarr.json";

/** The keys that show which format a node at `path` is of, in the order in which they count. */
export function detectionKeys(path: string): string[] {
  return NAMES.map((name) => joinKey(path, name));
}

/**
 * Which format describes the node at `path`, by which of its `detectionKeys` exist; undefined when none does. A
 * `zarr.json` that is broken counts as v3, whose parser says what is wrong.
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
  const message = `${strangers.join(" and ")} of another format beside ${first}, which is used`;
  return { zarrFormat, findings: strangers.length > 0 ? [{ message, kind: "other-format" }] : [] };
}

function formatOf(name: (typeof NAMES)[number]): ZarrFormat {
  if (name === "zarr.json") return "v3";
  return name === "meta" ? "v1" : "v2";
}

/**
 * The format of the hierarchy whose root has `bytes` as its `zarr.json`, where the nodes below need not have
 * documents at their own paths: a draft of v3. Undefined for any other document.
 */
export function hierarchyFormat(bytes: Uint8Array): ZarrFormat | undefined {
  const json = tryParse(bytes);
  return isObject(json) ? draftOf(json) : undefined;
}

/** Which hierarchy it is follows from its format alone; all else may be large. */
const ALL_BUT_FORMAT = { levels: 1, isCut: ([name]: readonly string[]) => name !== "zarr_format" };

function tryParse(bytes: Uint8Array) {
  try {
    return parseJsonCut(bytes, ALL_BUT_FORMAT, { allowNonFinite: () => true }).json;
  } catch {
    return undefined;
  }
}
