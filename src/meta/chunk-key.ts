import type { JsonValue } from "../util/json-value.ts";
import type { ChunkKeyEncoding } from "./array-metadata.ts";
import { assertWord, memberOr, refusal } from "./assert-json.ts";
import { assertNoOthers, parseExtension, writeExtension } from "./extension.ts";

const SEPARATORS = [".", "/"] as const;
const INDEX = /^(?:0|[1-9][0-9]*)$/;

/** The last part of the key of the chunk at `coords`. */
export function encodeChunkKey(coords: readonly number[], { name, separator }: ChunkKeyEncoding): string {
  if (name === "default") return ["c", ...coords].join(separator);
  return coords.length === 0 ? "0" : coords.join(separator);
}

/**
 * Parses the last part of a key into coords. Undefined unless `encodeChunkKey` would give exactly this text for an
 * array of `rank` dimensions. Does not check the coords against the grid.
 */
export function decodeChunkKey(
  piece: string,
  rank: number,
  { name, separator }: ChunkKeyEncoding,
): number[] | undefined {
  const parts = piece.split(separator);
  if (name === "default" && parts.shift() !== "c") return undefined;
  if (name === "plain" && rank === 0) return piece === "0" ? [] : undefined;
  if (parts.length !== rank || !parts.every((part) => INDEX.test(part))) return undefined;
  const coords = parts.map(Number);
  return coords.every(Number.isSafeInteger) ? coords : undefined;
}

/** @throws `unsupported-extension` for another encoding, `invalid-metadata` for another separator. */
export function parseChunkKeyEncoding(json: JsonValue, pointer: string): ChunkKeyEncoding {
  const extension = parseExtension(json, pointer);
  const { name, configuration } = extension;
  if (name !== "default" && name !== "v2") {
    throw refusal("unsupported-extension", pointer, `the chunk key encoding \`${name}\` is not known`, json);
  }
  assertNoOthers(json, extension, ["separator"]);
  const usual = name === "default" ? "/" : ".";
  const stated = memberOr(configuration, "separator", usual);
  const separator = assertWord(stated, SEPARATORS, `${pointer}/configuration/separator`);
  return { name: name === "v2" ? "plain" : name, separator };
}

export function writeChunkKeyEncoding({ name, separator }: ChunkKeyEncoding): JsonValue {
  return writeExtension(name === "plain" ? "v2" : name, { separator });
}
