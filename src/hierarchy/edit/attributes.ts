import type { NodeMetadata } from "../../meta/array-metadata.ts";
import { checkedOptions, invalid, isObject, type OptionNames } from "../../util/check-options.ts";
import { fromPlain } from "../../util/json-plain.ts";
import type { JsonObject } from "../../util/json-value.ts";
import type { ZarrNode } from "../node.ts";
import { assertNotLocked, withLockedPlace } from "../place-lock.ts";
import { changeMetadata } from "./metadata.ts";
import { type EditSource, homeOf, nodeToEdit } from "./parent.ts";

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
  if (!isObject(attributes)) throw invalid("these are not attributes", "an object", attributes);
  const stays = ([name]: readonly [string, unknown]) =>
    !(name in attributes) || attributes[name] !== undefined;
  const change = (metadata: NodeMetadata): NodeMetadata => {
    const kept = replace ? [] : Object.entries(metadata.attributes).filter(stays);
    const next = { ...Object.fromEntries(kept), ...(fromPlain(attributes) as JsonObject) };
    return { ...metadata, attributes: next };
  };
  const node = await nodeToEdit(source, signal);
  const home = await homeOf(node);
  const set = () => changeMetadata(node, home, change, { allowLoss, signal });
  if (node.kind === "array") return withLockedPlace(home, set, { isArray: true, signal });
  // members of a group may be written while its own document changes
  await assertNotLocked(home, { signal });
  return set();
}
