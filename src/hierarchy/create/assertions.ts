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
 * Whether something is where a node of `kind` is to be made. A group that is one only because nodes lie below it may
 * become one by its own document.
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
    if (isOfMetadata(error)) return true; // metadata that cannot be read are metadata all the same
    throw error;
  }
}

/** Whether an error says that metadata are there, and cannot be read. */
export function isOfMetadata(error: unknown): boolean {
  if (!isZarrflowError(error)) return false;
  return error.code.startsWith("unsupported-") || ["invalid-metadata", "resource-limit"].includes(error.code);
}

/**
 * Refuses keys where a node is to be made: chunks that are left there would read as its own, and nodes below a group
 * would not be consolidated.
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
 * Refuses a path where a sibling, of the node or of a group on the way to it, has the same name in letters of another
 * case, in formats that do not tell these apart. Where the store cannot list, that is not looked for, as is said.
 *
 * @param leaving the path of a node that is about to leave its own.
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
