import type { NodeMetadata } from "../../meta/array-metadata.ts";
import type { Finding, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { joinKey } from "../../meta/join-key.ts";
import { caseConflict, isSameButForCase } from "../../meta/sibling-names.ts";
import { isListable, type Store } from "../../stores/store.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { keysBelow } from "../keys-below.ts";
import { childNames } from "../open/child-names.ts";
import { openNode } from "../open/open-node.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";

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
    throw new ZarrflowError("target-not-empty", "there are existing keys that would mix with the new ones", {
      store: store.description,
      path: layout.path,
      key,
      hint: "Replace what is there, or choose another path.",
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
      { message: "the store cannot list its keys, so names that differ only in case were not checked" },
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
