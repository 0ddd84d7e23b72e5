import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import { hasConsolidated } from "../../hierarchy/consolidated.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import type { BrokenNode } from "../../hierarchy/open/walk.ts";
import { inOtherFormat, otherFormatName } from "../../hierarchy/other-format.ts";
import { unknownCodecIn } from "../../meta/codec-traits.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { CopiedNode, OtherFormat } from "../../plan/request.ts";
import type { ReadEventOptions } from "../../run/events.ts";
import type { StoreOptions } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { JsonObject } from "../../util/json-value.ts";
import { belowPath } from "../../util/node-path.ts";

/** Finds the chunk key separators of arrays whose documents do not state one. */
export async function withChunkSeparators(
  nodes: readonly ZarrNode[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal?: AbortSignal | undefined },
): Promise<ZarrNode[]> {
  const found = [...nodes];
  const lookAt = async (i: number, context: { readonly signal: AbortSignal }) => {
    const node = nodes[i];
    if (node?.kind === "array") found[i] = await withChunkSeparator(node, context);
  };
  await forEachConcurrent(nodes.keys(), lookAt, { concurrency, signal });
  return found;
}

/**
 * Warnings about arrays whose separator was detected, and about arrays whose values may be misread, with paths
 * below `root`.
 */
export function readingWarnings(nodes: readonly ZarrNode[], root: ZarrNode): NodeWarning[] {
  return nodes.flatMap((node) => {
    const about = aboutNode(root, node);
    const doubts = valueWarnings(node, about);
    const isFound = node.reading.v2?.separator === "/" && root.reading.v2 === undefined;
    const finding = isFound && node.findings.find(({ pointer }) => pointer === POINTER);
    if (!finding) return doubts;
    const hint =
      "The target states its separator. If this is wrong, pass the source's with `--v2-separator /`.";
    return [{ message: finding.message, ...about, hint }, ...doubts];
  });
}

function valueWarnings({ findings }: ZarrNode, about: Pick<NodeWarning, "path">): NodeWarning[] {
  return findings.filter(({ kind }) => kind === "values").map(({ message }) => ({ message, ...about }));
}

/**
 * Finds the chunk key separator of an array before it is read. Emits a warning if the separator was detected, and
 * for each doubt about the array's values.
 */
export async function readableArray(
  array: ZarrArray,
  root: ZarrNode,
  { signal, onEvent }: ReadEventOptions & { readonly signal?: AbortSignal | undefined },
): Promise<ZarrArray> {
  const found = await withChunkSeparator(array, { signal });
  const finding = found !== array && found.findings.find(({ pointer }) => pointer === POINTER);
  if (finding) {
    const hint = "A copy states its separator. If this is wrong, pass this array's with `--v2-separator /`.";
    onEvent?.({ type: "warning", message: finding.message, ...aboutNode(root, array), hint });
  }
  for (const warning of valueWarnings(array, aboutNode(root, array)))
    onEvent?.({ type: "warning", ...warning });
  return found;
}

const POINTER = "/dimension_separator";

function aboutNode(root: ZarrNode, { path }: ZarrNode): { readonly path?: string } {
  const below = belowPath(root.path, path);
  return below === "" ? {} : { path: below };
}

/**
 * Nodes with an unsupported data type, chunk grid, codec or other feature. They cannot be decoded, but a copy in
 * the same format needs no decoder.
 */

/** Warning for such a node that is copied. */
export function copiedWarning(path: string, error: ZarrflowError): NodeWarning {
  return {
    ...(path !== "" && { path }),
    message: `this is copied byte for byte, because it cannot be decoded here: ${error.reason}`,
    hint: "Skip it with --exclude.",
  };
}

/** Warning for such a node that a reader skips. */
export function skippedWarning(root: ZarrNode, { path, error }: Omit<BrokenNode, "kind">): NodeWarning {
  return {
    path: belowPath(root.path, path),
    message: `this is skipped, because it cannot be decoded here: ${error.reason}`,
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

/** True if a node also has documents of another format. */
export function hasOtherFormat({ findings }: ZarrNode): boolean {
  return findings.some(({ kind }) => kind === "other-format");
}

/**
 * Finds the nodes that also have documents of the other format, with the attributes stated there.
 *
 * @throws `invalid-option` if the flow converts to another format; as `openNode`.
 */
export async function otherFormatOf(
  root: ZarrArray | ZarrGroup,
  nodes: readonly ZarrNode[],
  {
    isConverted,
    concurrency,
    signal,
  }: {
    readonly isConverted: boolean;
    readonly concurrency: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<OtherFormat | undefined> {
  if (isConverted) {
    throw new ZarrflowError("invalid-option", "a conversion writes documents of only one format", {
      path: root.path,
      hint: "Omit --keep-formats (in code keepFormats), or --to.",
    });
  }
  const name = otherFormatName(root.layout.zarrFormat);
  if (name === undefined) return undefined;
  const [found, consolidated] = [new Map<string, JsonObject>(), new Set<string>()];
  const lookAt = async (node: ZarrNode, context: { readonly signal: AbortSignal }) => {
    const other = await inOtherFormat(node, context);
    if (other === undefined) return;
    const { path } = node;
    found.set(path, other.metadata.attributes);
    if (other.kind === "group" && (await hasConsolidated(other, context.signal))) consolidated.add(path);
  };
  await forEachConcurrent(nodes, lookAt, { concurrency, signal });
  return { name, nodes: found, consolidated };
}
