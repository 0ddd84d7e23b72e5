import type { GroupMetadata, NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import type { Finding, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { isListable, type Store, type StoreOptions, type WritableStore } from "../../stores/store.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, caseConflict, isSameButForCase, joinKey } from "../../util/node-path.ts";
import { childNames } from "../open/members.ts";
import { openNode } from "../open/open-node.ts";
import { keysBelow } from "../open/walk.ts";
import { type ReadDocumentOptions, readDocument } from "../stored-documents.ts";

/**
 * Returns true if the place of a new node of `kind` is in use. A group that is only implied by nodes below it can get a
 * document of its own.
 */
export async function isTaken(
  store: Store,
  layout: NodeLayout,
  kind: NodeMetadata["kind"],
  { maxMetadata, signal }: ReadDocumentOptions = {},
): Promise<boolean> {
  try {
    const node = await openNode(store, layout.path, { maxMetadata, signal });
    if (node === undefined) return false;
    const isImplied = !node.layout.documentKeys.some((key) => node.documents.has(key));
    if (!isImplied) return true;
    return kind === "array" && isListable(store) && (await childNames(store, layout, { signal })).length > 0;
  } catch (error) {
    if (isOfMetadata(error)) return true; // metadata that cannot be read exist all the same
    throw error;
  }
}

/** True if an error shows that metadata exist but cannot be read. */
export function isOfMetadata(error: unknown): boolean {
  if (!isZarrflowError(error)) return false;
  return error.code.startsWith("unsupported-") || ["invalid-metadata", "resource-limit"].includes(error.code);
}

/**
 * Checks that there are no keys at the place of a new node: old chunks would read as its own, and nodes below a group
 * would be missing from its consolidated metadata.
 *
 * @throws `target-not-empty`
 */
export async function assertEmpty(
  store: Store,
  layout: NodeLayout,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!isListable(store)) return;
  for await (const { key } of keysBelow(store, layout, { signal })) {
    throw new ZarrflowError("target-not-empty", "existing keys would mix with the new ones", {
      store: store.description,
      path: layout.path,
      key,
      hint: "Replace the existing keys, or choose another path.",
    });
  }
}

/**
 * Rejects a path if a sibling of the node, or of a group above it, has the same name in different case, for formats
 * that ignore case. If the store cannot list, nothing is checked and a finding says so.
 *
 * @param leaving path of a node that is about to be moved away.
 * @throws `invalid-node-name` that names both.
 */
export async function assertDistinctNames(
  store: Store,
  { zarrFormat, path, hierarchy }: NodeLayout,
  signal: AbortSignal | undefined,
  leaving?: string,
): Promise<Finding[]> {
  if (!hierarchy.ignoresCase) return [];
  if (!isListable(store)) {
    return [
      { message: "the store cannot list its keys, so names that differ only in case could not be detected" },
    ];
  }
  const names = path.split("/");
  for (const [depth, above] of ancestorPaths(path).entries()) {
    const siblings = await childNames(store, formatNamed(zarrFormat).layout(above), { signal });
    const other = siblings.find(
      (sibling) => isSameButForCase(sibling, names[depth] ?? "") && joinKey(above, sibling) !== leaving,
    );
    if (other !== undefined) throw caseConflict(zarrFormat, path, joinKey(above, other));
  }
  return [];
}

/** Returns the layout of a new node, after checking its name. */
export function layoutOfNewNode(
  path: string,
  zarrFormat: ZarrFormat,
  { allowUnicode = false }: { readonly allowUnicode?: boolean | undefined },
): NodeLayout {
  const layout = formatNamed(zarrFormat).layout(path);
  if (allowUnicode || !layout.hierarchy.wantsAscii || /^[\x20-\x7e]*$/.test(path)) return layout;
  throw new ZarrflowError("invalid-node-name", "node names must be ASCII in this format", {
    format: zarrFormat,
    path,
    hint: "Set `allowUnicode` to allow other names; not every reader accepts them.",
  });
}

interface Asked {
  readonly zarrFormat?: ZarrFormat | undefined;
  readonly ifExists?: "error" | "replace" | undefined;
}

/** Chooses the format of a node. A root that replaces another may have any format. */
export function chooseFormat(
  { zarrFormat: asked, ifExists }: Asked,
  path: string,
  around: ZarrFormat | undefined,
): ZarrFormat {
  const isFree = path === "" && ifExists === "replace";
  return (isFree ? (asked ?? around) : agreed(asked, around)) ?? "v3";
}

/** Returns the common format of two, either of which may be undefined. @throws `invalid-option` if they differ. */
export function agreed(
  asked: ZarrFormat | undefined,
  around: ZarrFormat | undefined,
): ZarrFormat | undefined {
  if (asked === undefined || around === undefined || asked === around) return asked ?? around;
  throw new ZarrflowError(
    "invalid-option",
    `a node in format ${asked} cannot be part of a hierarchy in format ${around}`,
    {
      expected: around,
      found: asked,
    },
  );
}

const GROUP: GroupMetadata = { kind: "group", attributes: {} };

/**
 * Returns the format of the hierarchy in the store, or of the nearest group above `path`; undefined without either.
 *
 * @throws `path-not-allowed` below an array.
 */
export async function formatAbove(
  store: Store,
  path: string,
  options: ReadDocumentOptions,
): Promise<ZarrFormat | undefined> {
  const document = (await readDocument(store, HIERARCHY_KEY, options))?.bytes;
  const whole = document && hierarchyFormat(document);
  const nodes = await Promise.all(
    ancestorPaths(path).map((above) =>
      openNode(store, above, { ...options, ...(whole && { zarrFormat: whole }) }),
    ),
  );
  const array = nodes.find((node) => node?.kind === "array");
  if (array) {
    throw new ZarrflowError(
      "path-not-allowed",
      `nothing can be created below ${array.path || "the root"}, which is an array`,
      {
        store: store.description,
        path,
      },
    );
  }
  return whole ?? nodes.findLast((node) => node !== undefined)?.layout.zarrFormat;
}

/** Documents of the groups that contain `path`, nearest first; empty in a format without groups. */
export function ancestorDocuments(path: string, zarrFormat: ZarrFormat): Map<string, Uint8Array>[] {
  const { layout, write } = formatNamed(zarrFormat);
  if (layout(path).hierarchy.impliesGroups) return [];
  return ancestorPaths(path)
    .reverse()
    .map((above) => write(GROUP, layout(above), { allowLoss: ["/node_type"] }));
}

/** Writes the documents shared by all nodes of a hierarchy, unless they exist. */
export async function createShared(
  store: WritableStore,
  zarrFormat: ZarrFormat,
  options: StoreOptions,
): Promise<void> {
  for (const [key, bytes] of formatNamed(zarrFormat).writeShared?.() ?? []) {
    const isThere = !store.singleWriter && (await store.size(key, options)) !== undefined;
    if (!isThere) await store.set(key, bytes, options);
  }
}

/** Creates the missing groups above `path`. Returns the documents that were written, by key. */
export async function createAncestors(
  store: WritableStore,
  path: string,
  zarrFormat: ZarrFormat,
  options: StoreOptions,
): Promise<Map<string, Uint8Array>> {
  const written = new Map<string, Uint8Array>();
  for (const documents of ancestorDocuments(path, zarrFormat)) {
    const keys = [...documents.keys()];
    const sizes = await Promise.all(keys.map((key) => store.size(key, options)));
    if (sizes.some((size) => size !== undefined)) continue;
    for (const [key, bytes] of documents) {
      await store.set(key, bytes, options);
      written.set(key, bytes);
    }
  }
  return written;
}
