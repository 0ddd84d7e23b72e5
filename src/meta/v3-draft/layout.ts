import { isZarrflowError, type PlainCode, ZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import type { HierarchyKeys, NodeLayout } from "../format.ts";
import { decodeChunkKey, encodeChunkKey } from "../node-layout.ts";
import type { DraftForm } from "./form.ts";

/** Key of the document that every hierarchy of a draft has at its root. */
export const BOOTSTRAP_KEY = "zarr.json";

const ROOT = "meta/root";
/** A character that keys must not contain. */
const FOREIGN = /[^a-zA-Z0-9/\-_.]/;
const FOREIGN_WORDS = "a character other than a-z A-Z 0-9 - _ .";
const MAX_NAME = 255;

/**
 * Keys of a node in a draft of v3: documents in one tree, chunks in another. Paths are not normalized, except that a
 * leading slash is removed.
 *
 * @throws `path-not-allowed` for a trailing slash or two slashes in a row, `invalid-node-name` with the violated rule.
 */
export function layoutDraft(form: DraftForm, path: string): NodeLayout {
  const normal = normalDraftPath(form, path);
  const below = normal === "" ? "" : `/${normal}`;
  const members = `${ROOT}${below}/`;
  const chunksPrefix = form.chunks + joinKey(normal, "");
  const chunkStart = chunksPrefix + form.chunkMark;
  return {
    zarrFormat: form.name,
    path: normal,
    documentKeys: SUFFIXES.map((suffix) => ROOT + below + suffix + form.suffix),
    hierarchy: draftHierarchy(form),
    prefixes: [members, chunksPrefix, ...(normal === "" ? [""] : [])],
    chunksPrefix,
    membersPrefix: members,
    memberName(entry) {
      const rest = entry.slice(members.length);
      const name = rest.endsWith("/") ? rest.slice(0, -1) : withoutSuffix(rest, form);
      return name !== undefined && brokenDraftName(name) === undefined ? name : undefined;
    },
    chunkKey: (coords, encoding) => chunkStart + encodeChunkKey(coords, encoding),
    parseChunkKey: (key, rank, encoding) =>
      key.startsWith(chunkStart) ? decodeChunkKey(key.slice(chunkStart.length), rank, encoding) : undefined,
  };
}

const SUFFIXES = [".array", ".group"];

/** Removes exactly one suffix from a key; undefined if it has none. */
function withoutSuffix(key: string, form: DraftForm): string | undefined {
  const suffix = SUFFIXES.map((name) => name + form.suffix).find((end) => key.endsWith(end));
  return suffix === undefined ? undefined : key.slice(0, -suffix.length);
}

function draftHierarchy(form: DraftForm): HierarchyKeys {
  return {
    sharedKeys: [BOOTSTRAP_KEY],
    impliesGroups: true,
    ignoresCase: true,
    wantsAscii: false,
    nodeOf(key) {
      const path = withoutSuffix(key, form);
      if (path === ROOT) return "";
      if (!path?.startsWith(`${ROOT}/`)) return undefined;
      return isDraftPath(form, path.slice(ROOT.length)) ? path.slice(ROOT.length + 1) : undefined;
    },
    pathOf(key) {
      const tree = [`${ROOT}/`, form.chunks].find((prefix) => key.startsWith(prefix)) ?? "";
      return key.slice(tree.length);
    },
    assertKey(key) {
      if (!FOREIGN.test(key)) return;
      throw new ZarrflowError("path-not-allowed", `a key has ${FOREIGN_WORDS}`, { format: form.name, key });
    },
  };
}

function isDraftPath(form: DraftForm, path: string): boolean {
  try {
    normalDraftPath(form, path);
    return true;
  } catch (error) {
    if (isZarrflowError(error)) return false;
    throw error;
  }
}

function normalDraftPath({ name: format }: DraftForm, path: string): string {
  const normal = path.replace(/^\//, "");
  if (normal === "") return normal;
  const refusal = (code: PlainCode, reason: string, value?: string) =>
    new ZarrflowError(code, reason, { format, path, value });
  if (normal.startsWith("/") || normal.includes("//")) {
    throw refusal("path-not-allowed", "a path must not have two slashes in a row");
  }
  if (normal.endsWith("/")) throw refusal("path-not-allowed", "a path must not end in a slash");
  for (const name of normal.split("/")) {
    const rule = brokenDraftName(name);
    if (rule !== undefined) throw refusal("invalid-node-name", `the node name \`${name}\` ${rule}`, name);
  }
  return normal;
}

/** The rule that a node's name violates, in words; undefined for a valid name. */
export function brokenDraftName(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.length > MAX_NAME) return `is longer than ${MAX_NAME} characters`;
  if (/^\.+$/.test(name)) return "has only periods";
  return FOREIGN.test(name) || name.includes("/") ? `has ${FOREIGN_WORDS}` : undefined;
}
