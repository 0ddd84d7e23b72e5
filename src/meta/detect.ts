import { ZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import type { DialectName } from "./array-metadata.ts";
import type { Documents, Finding } from "./dialect.ts";
import { isObject, member } from "./expect.ts";
import { joinKey } from "./join-key.ts";

/** Names by which formats are told apart, in the order in which they count. */
const NAMES = ["zarr.json", ".zarray", ".zgroup", "meta"] as const;

/** The keys that tell which dialect a node at `path` is of, in the order in which they count. */
export function detectionKeys(path: string): string[] {
  return NAMES.map((name) => joinKey(path, name));
}

/**
 * Which dialect describes the node at `path`, by which of its `detectionKeys` exist; undefined when none does. A
 * `zarr.json` that is broken counts as v3, whose parser says what is wrong.
 *
 * @throws `unsupported-format` for the drafts of v3 later than 2019.
 */
export function detectDialect(
  documents: Documents,
  path: string,
): { readonly dialect: DialectName; readonly findings: readonly Finding[] } | undefined {
  const [first, ...others] = NAMES.filter((name) => documents.has(joinKey(path, name)));
  if (first === undefined) return undefined;
  const bytes = documents.get(joinKey(path, first));
  const dialect = first === "zarr.json" && bytes && isDraft(bytes, path) ? "v3-draft-2019" : dialectOf(first);
  const strangers = others.filter((name) => dialectOf(name) !== dialect);
  const message = `${strangers.join(" and ")} of another format beside ${first}, which is taken`;
  return { dialect, findings: strangers.length > 0 ? [{ message }] : [] };
}

function dialectOf(name: (typeof NAMES)[number]): DialectName {
  if (name === "zarr.json") return "v3";
  return name === "meta" ? "v1" : "v2";
}

/**
 * Whether `bytes` are the bootstrap document of the draft of 2019: its `zarr_format` is a URI.
 *
 * @throws `unsupported-format` for a later draft.
 * @see D19-21, D19-90
 */
export function isDraft(bytes: Uint8Array, path: string): boolean {
  const json = tryParse(bytes);
  if (!isObject(json)) return false;
  const format = member(json, "zarr_format");
  if (typeof format !== "string" || !/^https?:/.test(format)) return false;
  if (Object.hasOwn(json, "metadata_key_suffix")) {
    throw new ZarrflowError("unsupported-format", "a later draft of v3 than that of 2019", {
      format: "v3-draft-2020",
      path,
      key: joinKey(path, "zarr.json"),
      pointer: "/zarr_format",
      value: format,
    });
  }
  return true;
}

function tryParse(bytes: Uint8Array) {
  try {
    return parseJson(bytes, { allowNonFinite: () => true });
  } catch {
    return undefined;
  }
}
