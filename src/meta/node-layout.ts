import type { JsonValue } from "../util/json-value.ts";
import { joinKey } from "../util/node-path.ts";
import type { ChunkKeyEncoding } from "./array-metadata.ts";
import { assertWord, memberOr, refusal } from "./assert-json.ts";
import { assertNoOthers, parseExtension, writeExtension } from "./extension.ts";
import type { HierarchyKeys, NodeLayout } from "./format.ts";

/** Document names of such a format. */
export interface FolderNames {
  /** Documents of a node, in publishing order. */
  readonly documents: readonly string[];
  /** The document that contains only attributes. */
  readonly attributes?: string;
  /** The document of groups, if arrays have a different one. */
  readonly group?: string;
  /** The document with consolidated metadata. */
  readonly consolidated?: string;
  readonly wantsAscii?: boolean;
}

/** The layout of formats that store everything of a node below its path. */
export function folderLayout(
  zarrFormat: NodeLayout["zarrFormat"],
  path: string,
  names: FolderNames,
): NodeLayout {
  const { documents, attributes, group, consolidated } = names;
  const prefix = joinKey(path, "");
  return {
    zarrFormat,
    path,
    documentKeys: documents.map((name) => prefix + name),
    ...(attributes !== undefined && { attributesKey: prefix + attributes }),
    ...(group !== undefined && { groupKey: prefix + group }),
    ...(consolidated !== undefined && { consolidatedKey: prefix + consolidated }),
    hierarchy: folderHierarchy(names),
    prefixes: [prefix],
    chunksPrefix: prefix,
    membersPrefix: prefix,
    memberName: (entry) => (entry.endsWith("/") ? entry.slice(prefix.length, -1) : undefined),
    chunkKey: (coords, encoding) => prefix + encodeChunkKey(coords, encoding),
    parseChunkKey: (key, rank, encoding) =>
      key.startsWith(prefix) ? decodeChunkKey(key.slice(prefix.length), rank, encoding) : undefined,
  };
}

function folderHierarchy({ documents, wantsAscii = false }: FolderNames): HierarchyKeys {
  return {
    sharedKeys: [],
    impliesGroups: false,
    ignoresCase: false,
    wantsAscii,
    nodeOf(key) {
      const slash = key.lastIndexOf("/");
      return documents.includes(key.slice(slash + 1)) ? key.slice(0, Math.max(0, slash)) : undefined;
    },
    pathOf: (key) => key,
    assertKey: () => {},
  };
}

/** The prefixes that cover every key below a node without overlap, for listing one after another. */
export function outerPrefixes({ prefixes }: NodeLayout): readonly string[] {
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && one.startsWith(other)));
}

/**
 * Maps a key below one node to another node. In the same format it stays in its tree; otherwise it moves to the
 * chunks.
 */
export function movedKey(key: string, from: NodeLayout, to: NodeLayout): string {
  const tree = from.prefixes.findIndex((prefix) => key.startsWith(prefix));
  const alike = from.zarrFormat === to.zarrFormat ? to.prefixes[tree] : undefined;
  return (alike ?? to.chunksPrefix) + key.slice(from.prefixes[tree]?.length ?? 0);
}

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
