import type { NodeMetadata } from "../../meta/array-metadata.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { StoreOptions } from "../../stores/store.ts";
import { bytesEqual } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { fromPlain, type JsonObject, jsonEqual } from "../../util/json-value.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { checkedOptions, invalidOption, isObject, type OptionNames } from "../../util/options.ts";
import type { ZarrNode } from "../node.ts";
import { openNode } from "../open/open-node.ts";
import { editedAlong } from "../other-format.ts";
import { assertNotLocked, withLockedPlace } from "../parent-hierarchy.ts";
import { type ConsolidatedMetadata, refreshConsolidated } from "./consolidated.ts";
import { type EditSource, nodeToEdit, type ParentHierarchy, parentHierarchyOfNode } from "./parent.ts";

export interface ChangeMetadataOptions extends StoreOptions {
  readonly allowLoss?: readonly string[] | undefined;
  /**
   * Returns the metadata for documents of another format beside the node's own; by default, `change` is applied to
   * them.
   */
  readonly along?: typeof alongside;
}

type Change = (metadata: NodeMetadata) => NodeMetadata | Promise<NodeMetadata>;

/**
 * Changes the documents of a node at its place in the hierarchy, after reading them again. Only documents that differ
 * are written; consolidated metadata of the node and of the groups above are updated, and so are documents of another
 * format beside its own.
 *
 * @returns the changed node.
 * @throws `not-found` if it no longer exists; `loss-refused`; `unsupported-operation` as `editedAlong`.
 */
export async function changeMetadata(
  node: ZarrNode,
  hierarchyAround: ParentHierarchy,
  change: Change,
  options: ChangeMetadataOptions = {},
): Promise<ZarrNode> {
  if (!(await writeMetadata(node, hierarchyAround, change, options))) {
    throw new ZarrflowError("not-found", "the node has no metadata document of its own", {
      store: hierarchyAround.store.description,
      path: hierarchyAround.path,
    });
  }
  const { store, path, reading, spec, layout } = node;
  const { signal } = options;
  return (await openNode(store, path, { ...reading, spec, zarrFormat: layout.zarrFormat, signal })) ?? node;
}

/** As `changeMetadata`, without opening the node again. Returns false if the node does not exist. */
export async function writeMetadata(
  { reading, layout: { zarrFormat } }: Pick<ZarrNode, "reading" | "layout">,
  { store, path }: ParentHierarchy,
  change: Change,
  { allowLoss, along, signal }: ChangeMetadataOptions = {},
): Promise<boolean> {
  const found = await openNode(store, path, { ...reading, zarrFormat, signal });
  if (!found) return false;
  const { maxMetadata } = reading;
  const other = await editedAlong(found, { maxMetadata, signal });
  const after = await change(found.metadata);
  const written = changedDocuments(found, after, allowLoss);
  if (other) {
    const now = along ? along(other.metadata, found.metadata, after) : await change(other.metadata);
    for (const [key, bytes] of changedDocuments(other, now, allowLoss)) written.set(key, bytes);
  }
  const write = async (consolidated: ConsolidatedMetadata) => {
    for (const [key, bytes] of written) {
      if (consolidated.carries(key)) continue;
      if (bytes) await store.set(key, bytes, { signal });
      else await store.delete(key, { signal });
    }
    // an array has left the consolidated metadata with all of its documents
    const before = [...found.documents, ...(other?.documents ?? [])];
    return found.kind === "array" ? { written: new Map([...before, ...written]) } : { written };
  };
  // the members of a group stay visible while its own document changes
  const scope = { groups: [...ancestorPaths(path), path], nodes: found.kind === "array" ? [path] : [] };
  if (written.size > 0) await refreshConsolidated(store, scope, write, { maxMetadata, signal });
  return true;
}

/**
 * Applies a change of shape and attributes to metadata in another format. Attributes that had a different value there
 * are kept.
 */
export function alongside(other: NodeMetadata, before: NodeMetadata, after: NodeMetadata): NodeMetadata {
  const attributes = new Map(Object.entries(other.attributes));
  for (const name of new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)])) {
    const [old, now] = [before.attributes[name], after.attributes[name]];
    if (jsonEqual(old, now) || !jsonEqual(attributes.get(name), old)) continue;
    if (now === undefined) attributes.delete(name);
    else attributes.set(name, now);
  }
  const changed = { attributes: Object.fromEntries(attributes) };
  if (other.kind === "group" || after.kind === "group") return { ...other, ...changed };
  return { ...other, ...changed, shape: after.shape };
}

/** The documents that differ, by key; undefined for one to be removed. */
export function changedDocuments(
  { layout, metadata, reading }: ZarrNode,
  after: NodeMetadata,
  allowLoss: readonly string[] | undefined,
): Map<string, Uint8Array | undefined> {
  const { write } = formatNamed(layout.zarrFormat, reading);
  const old = write(metadata, layout, { allowLoss: ["/attributes"] });
  const changed = new Map<string, Uint8Array | undefined>(write(after, layout, { allowLoss }));
  for (const [key, bytes] of old) {
    const now = changed.get(key);
    if (now === undefined) changed.set(key, undefined);
    else if (bytesEqual(now, bytes)) changed.delete(key);
  }
  return changed;
}

export interface SetAttributesOptions {
  /** If true, `attributes` replaces all attributes; by default others are kept. */
  readonly replace?: boolean | undefined;
  /** JSON pointers, as in the details of `loss-refused`, of numbers that may become `null`: NaN and infinities. */
  readonly allowLoss?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

const SET_ATTRIBUTES_OPTIONS: OptionNames<SetAttributesOptions> = {
  replace: true,
  allowLoss: true,
  signal: true,
};

/**
 * Sets attributes of an array or a group, given open or by its URL; `undefined` removes an attribute. Attributes are
 * read again first, so that changes by others since the node was opened are kept. Only the document with the attributes
 * is written, in whole or not at all; consolidated metadata of the node and of the groups above are updated.
 *
 * @returns the node with its new attributes.
 * @throws `not-found` if it no longer exists; `unsupported-operation` if the store is not writable; `invalid-option`
 *   for values that JSON cannot represent, `loss-refused` for NaN and infinities; `locked` while another run writes
 *   there.
 * @example
 * ```ts
 * import { setAttributes } from "zarrflow";
 *
 * await setAttributes("era5.zarr/t2m", { units: "K", checked: true, draft: undefined });
 * ```
 */
export async function setAttributes(
  source: EditSource,
  attributes: Readonly<Record<string, unknown>>,
  given: SetAttributesOptions = {},
): Promise<ZarrNode> {
  const { replace = false, allowLoss, signal } = checkedOptions(given, SET_ATTRIBUTES_OPTIONS);
  if (!isObject(attributes)) throw invalidOption("these are not attributes", "an object", attributes);
  const stays = ([name]: readonly [string, unknown]) =>
    !(name in attributes) || attributes[name] !== undefined;
  const change = (metadata: NodeMetadata): NodeMetadata => {
    const kept = replace ? [] : Object.entries(metadata.attributes).filter(stays);
    const next = { ...Object.fromEntries(kept), ...(fromPlain(attributes) as JsonObject) };
    return { ...metadata, attributes: next };
  };
  const node = await nodeToEdit(source, signal);
  const hierarchyAround = await parentHierarchyOfNode(node);
  const set = () => changeMetadata(node, hierarchyAround, change, { allowLoss, signal });
  if (node.kind === "array") return withLockedPlace(hierarchyAround, set, { isArray: true, signal });
  // members of a group may be written while its own document changes
  await assertNotLocked(hierarchyAround, { signal });
  return set();
}
