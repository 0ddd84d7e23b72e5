import type { NodeMetadata } from "../meta/array-metadata.ts";
import type { NodeLayout } from "../meta/dialect.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { bytesEqual } from "../meta/number-bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { fromPlain } from "../util/json-plain.ts";
import type { JsonObject } from "../util/json-value.ts";
import { ancestorPaths } from "../util/node-path.ts";
import { keepConsolidated } from "./edit-consolidated.ts";
import { homeOf } from "./edit-home.ts";
import type { ZarrNode } from "./node.ts";
import { openNode } from "./open-node.ts";

export interface SetAttributesOptions {
  /** Whether `attributes` are all that there shall be; by default others stay as they are. */
  readonly replace?: boolean;
  /** JSON pointers, as a `loss-refused` names them, of numbers that become `null`: NaN and infinities. */
  readonly allowLoss?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sets attributes of an array or a group that is open; one that is `undefined` is removed. They are read again before,
 * so that what others have set since it was opened stays. Only the document that holds attributes is written, whole or
 * not at all; consolidated metadata of the node and of the groups above stay true.
 *
 * @returns the node with its new attributes.
 * @throws `not-found` when it is gone; `unsupported-operation` for a store that cannot be written; `invalid-option` for
 *   values that JSON cannot hold, `loss-refused` for NaN and infinities.
 * @example
 * ```ts
 * import { open, setAttributes } from "zarrflow";
 *
 * const t2m = await open("era5.zarr/t2m");
 * await setAttributes(t2m, { units: "K", checked: true, draft: undefined });
 * ```
 */
export async function setAttributes(
  node: ZarrNode,
  attributes: Readonly<Record<string, unknown>>,
  { replace = false, allowLoss, signal }: SetAttributesOptions = {},
): Promise<ZarrNode> {
  const { dialect } = node.layout;
  const { store, path } = await homeOf(node);
  const found = await openNode(store, path, { dialect, signal });
  if (!found) {
    throw new ZarrflowError("not-found", "the node has no document of its own that could be written", {
      store: store.description,
      path,
    });
  }
  const { layout, metadata } = found;
  const stays = ([name]: readonly [string, unknown]) =>
    !(name in attributes) || attributes[name] !== undefined;
  const kept = replace ? [] : Object.entries(metadata.attributes).filter(stays);
  const next = { ...Object.fromEntries(kept), ...(fromPlain(attributes) as JsonObject) };
  const written = changedDocuments(layout, metadata, { ...metadata, attributes: next }, allowLoss);
  const change = async () => {
    for (const [key, bytes] of written) {
      if (bytes) await store.set(key, bytes, { signal });
      else await store.delete(key, { signal });
    }
    return { written };
  };
  await keepConsolidated(store, [...ancestorPaths(path), path], change, { signal });
  return (await openNode(node.store, node.path, { spec: node.spec, dialect, signal })) ?? node;
}

/** The documents that differ, by key; undefined for one that is no longer there. */
function changedDocuments(
  layout: NodeLayout,
  before: NodeMetadata,
  after: NodeMetadata,
  allowLoss: readonly string[] | undefined,
): Map<string, Uint8Array | undefined> {
  const { write } = dialectNamed(layout.dialect);
  const old = write(before, layout, { allowLoss: ["/attributes"] });
  const changed = new Map<string, Uint8Array | undefined>(write(after, layout, { allowLoss }));
  for (const [key, bytes] of old) {
    const now = changed.get(key);
    if (now === undefined) changed.set(key, undefined);
    else if (bytesEqual(now, bytes)) changed.delete(key);
  }
  return changed;
}
