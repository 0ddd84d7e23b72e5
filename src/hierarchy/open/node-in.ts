import { detectFormat } from "../../meta/detect.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Store } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { ZarrNode } from "../node.ts";
import { type NodeInOptions, nodeOf } from "./open-node.ts";

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
