import { ZarrflowError } from "../../util/errors.ts";
import { type JsonCut, parseJsonCut } from "../../util/json-cut.ts";
import { maxMemoryOf } from "../../util/json-memory.ts";
import { type JsonObject, type JsonPath, pointerTo } from "../../util/json-value.ts";
import { joinKey } from "../../util/node-path.ts";
import { assertObject, isJsonObject, member, required } from "../assert-json.ts";
import type { DocumentLimits, Documents, Finding } from "../format.ts";

/**
 * Reads the consolidated documents in the `zarr.json` of the group at `path`, by key; undefined if there are no
 * usable ones.
 *
 * @throws `invalid-metadata`
 */
export function readConsolidatedV3(
  bytes: Uint8Array,
  path: string,
  { maxMetadata }: DocumentLimits = {},
): Documents | undefined {
  const allowNonFinite = (names: JsonPath) => names.includes("attributes");
  const { json, texts } = parseJsonCut(bytes, CUT_V3, {
    allowNonFinite,
    maxMemory: maxMemoryOf(maxMetadata),
  });
  const root = assertObject(json, "");
  const stated = member(root, "consolidated_metadata") ?? null;
  if (stated === null) return undefined;
  const pointer = "/consolidated_metadata";
  const consolidated = assertObject(stated, pointer);
  if (!isInline(consolidated)) return undefined;
  assertObject(required(consolidated, "metadata", pointer), pointerTo(pointer, "metadata"));
  return texts.renamed((below) => (isInside(below) ? joinKey(joinKey(path, below), "zarr.json") : undefined));
}

/** Position of other nodes' documents in a v3 group's document. */
export const CUT_V3: JsonCut = {
  levels: 3,
  isCut: ([name, inner, node]) =>
    name === "consolidated_metadata" && inner === "metadata" && node !== undefined,
  withNames: true,
};

/** Reports consolidated metadata that cannot be used. */
export function noteConsolidatedKind(group: JsonObject, findings: Finding[]): void {
  const stated = member(group, "consolidated_metadata");
  if (!isJsonObject(stated) || isInline(stated)) return;
  const message = "consolidated metadata of a kind other than `inline` is ignored";
  findings.push({ message, pointer: "/consolidated_metadata/kind" });
}

function isInline(consolidated: JsonObject): boolean {
  return member(consolidated, "kind") === "inline";
}

/** True if a key or path stays in its group. @throws `resource-limit` if it is nested too deeply. */
export function isInside(key: string): boolean {
  if (key.length > 2 * MAX_LEVELS && key.split("/", MAX_LEVELS + 2).length > MAX_LEVELS + 1) {
    throw new ZarrflowError("resource-limit", "a name in the consolidated metadata is nested too deep", {
      expected: `at most ${MAX_LEVELS}`,
      value: key,
    });
  }
  return !/(?:^|\/)\.{0,2}(?:\/|$)|\\/.test(key);
}

/** Most folders above a node, because a path is created for each. */
export const MAX_LEVELS = 256;
