import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import type { BrokenNode } from "../../hierarchy/open/walk.ts";
import { unknownCodecIn } from "../../meta/codec-traits.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { StoreOptions } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { belowPath } from "../../util/node-path.ts";
import type { CopiedNode } from "../plan/hierarchy-request.ts";
import type { NodeWarning } from "../plan/plan.ts";

/**
 * Nodes with a data type, chunk grid, codec or the like that is not known here. Nothing of them can be decoded, but a copy
 * in the same format needs no decoder.
 */

/** The warning of a copy that takes such a node along. */
export function copiedWarning(path: string, error: ZarrflowError): NodeWarning {
  return {
    ...(path !== "" && { path }),
    message: `this is copied byte for byte, because it cannot be decoded here: ${error.reason}`,
    hint: "Leave it out with --exclude.",
  };
}

/** The warning of a reader that passes over such a node. */
export function skippedWarning(root: ZarrNode, { path, error }: Omit<BrokenNode, "kind">): NodeWarning {
  return {
    path: belowPath(root.path, path),
    message: `this is left out, because it cannot be decoded here: ${error.reason}`,
  };
}

/** The documents of such nodes that exist, which are copied as they are. */
export async function copiedNodes(
  nodes: readonly Pick<BrokenNode, "path">[],
  { store, layout }: { readonly store: ZarrNode["store"]; readonly layout: NodeLayout },
  { concurrency, signal }: StoreOptions & { readonly concurrency: number },
): Promise<CopiedNode[]> {
  const copied = nodes.map(({ path }) => ({ path, documents: new Set<string>() }));
  const lookAt = async (
    { path, documents }: CopiedNode & { documents: Set<string> },
    context: StoreOptions,
  ) => {
    for (const key of formatNamed(layout.zarrFormat).layout(path).documentKeys) {
      if ((await store.size(key, context)) !== undefined) documents.add(key);
    }
  };
  await forEachConcurrent(copied, lookAt, { concurrency, signal });
  return copied;
}

/** The error that no chunk of an array can be decoded here, as one of its codecs is not known; undefined if it can. */
export async function undecodable(array: ZarrArray): Promise<ZarrflowError | undefined> {
  if (unknownCodecIn(array.metadata.codecs) === undefined) return undefined;
  try {
    await array.innerChunks().pipeline();
    return undefined;
  } catch (error) {
    // what is wrong with it is left to who decodes
    return isZarrflowError(error) && isNotKnown(error) ? error.addContext({ path: array.path }) : undefined;
  }
}

/** Those of some arrays that cannot be decoded here, by path. */
export async function undecodableOf(
  arrays: readonly ZarrArray[],
  { concurrency, signal }: StoreOptions & { readonly concurrency: number },
): Promise<ReadonlyMap<string, ZarrflowError>> {
  const found = new Map<string, ZarrflowError>();
  const lookAt = async (array: ZarrArray) => {
    const error = await undecodable(array);
    if (error) found.set(array.path, error);
  };
  await forEachConcurrent(arrays, lookAt, { concurrency, signal });
  return found;
}
