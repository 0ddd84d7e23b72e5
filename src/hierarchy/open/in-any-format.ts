import { detectFormat } from "../../meta/detect.ts";
import type { Documents, NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Store } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { normalizePath } from "../../util/node-path.ts";
import type { ZarrNode } from "../node.ts";
import { type NodeInOptions, nodeOf } from "./open-node.ts";

/**
 * Checks the path of a node as the caller gave it, before normalization. Matters only in formats that do not normalize
 * paths.
 *
 * @throws `path-not-allowed`, `invalid-node-name`
 */
export function assertPath({ path, zarrFormat, hierarchy }: NodeLayout, given: string): void {
  const isOfRoot = normalizePath(given) === path;
  if (isOfRoot && hierarchy.sharedKeys.length > 0) formatNamed(zarrFormat).layout(given);
}

/**
 * Creates the node at `path` that `documents` describe, in any format; undefined if they describe no node.
 *
 * @throws as `openNode`.
 */
export function nodeIn<S extends Store>(
  documents: Documents,
  store: S,
  path: string,
  options: NodeInOptions,
): ZarrNode<S> | undefined {
  const { zarrFormat, findings = [] } = options;
  try {
    const detected = zarrFormat ? { zarrFormat, findings } : detectFormat(documents, path);
    if (!detected) return undefined;
    const format = formatNamed(detected.zarrFormat, options);
    return nodeOf(format, documents, store, path, { ...options, findings: detected.findings });
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ store: store.description, path });
    throw error;
  }
}
