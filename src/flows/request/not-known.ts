import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import type { BrokenNode } from "../../hierarchy/open/walk.ts";
import { unknownCodecIn } from "../../meta/codec-traits.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { CopiedNode } from "../../plan/request.ts";
import type { StoreOptions } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { isZarrflowError, type ZarrflowError } from "../../util/errors.ts";
import { belowPath } from "../../util/node-path.ts";

/**
 * Nodes with an unsupported data type, chunk grid, codec or other feature. They cannot be decoded, but a copy in
 * the same format needs no decoder.
 */

/** Warning for such a node that is copied. */
export function copiedWarning(path: string, error: ZarrflowError): NodeWarning {
  return {
    ...(path !== "" && { path }),
    message: `this is copied byte for byte, because it cannot be decoded here: ${error.reason}`,
    hint: "Leave it out with --exclude.",
  };
}

/** Warning for such a node that a reader skips. */
export function skippedWarning(root: ZarrNode, { path, error }: Omit<BrokenNode, "kind">): NodeWarning {
  return {
    path: belowPath(root.path, path),
    message: `this is left out, because it cannot be decoded here: ${error.reason}`,
  };
}

/** Finds the existing documents of such nodes, which are copied unchanged. */
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

/** Returns the error if an array cannot be decoded because of an unknown codec; undefined otherwise. */
export async function undecodable(array: ZarrArray): Promise<ZarrflowError | undefined> {
  if (unknownCodecIn(array.metadata.codecs) === undefined) return undefined;
  try {
    await array.innerChunks().pipeline();
    return undefined;
  } catch (error) {
    // other errors of the codecs are reported when they decode
    return isZarrflowError(error) && isNotKnown(error) ? error.addContext({ path: array.path }) : undefined;
  }
}

/** The arrays that cannot be decoded, with their errors by path. */
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
