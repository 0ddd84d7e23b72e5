import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { Documents, Finding, FormatDefinition } from "../../meta/format.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { ZarrArray, ZarrGroup, type ZarrNode } from "../node.ts";
import type { StoredDocuments } from "../stored-documents.ts";

export interface NodeOptions extends FormatOptions {
  /** Specification by which another process opens the store. */
  readonly spec?: StoreSpec;
  /** Format to use if documents of several exist; by default the first in detection order. */
  readonly zarrFormat?: ZarrFormat;
}

export interface NodeInOptions extends NodeOptions {
  /** True if `documents` are from consolidated metadata and stored nowhere else. */
  readonly areConsolidated?: boolean;
  /** The stored documents that `documents` come from. */
  readonly stored?: StoredDocuments;
  /** Problems found while detecting the format. */
  readonly findings?: readonly Finding[];
}

/**
 * Creates the node of a format at `path` that `documents` describe; undefined if they describe no node.
 *
 * @throws as `openNode`
 */
export function nodeOf<S extends Store>(
  format: FormatDefinition,
  documents: Documents,
  store: S,
  path: string,
  { spec = specOf(store), zarrFormat: _, areConsolidated, stored, findings = [], ...reading }: NodeInOptions,
): ZarrNode<S> | undefined {
  try {
    const layout = format.layout(path);
    const parsed = format.parse(documents, layout, reading);
    if (!parsed) return undefined;
    const own = layout.documentKeys.flatMap((key) => {
      const bytes = documents.get(key);
      return bytes ? [[key, bytes] as const] : [];
    });
    const parts = {
      store,
      spec,
      layout,
      documents: new Map(own),
      reading,
      findings: [...findings, ...parsed.findings],
      ...(areConsolidated && { consolidated: documents }),
      ...(stored && { stored }),
    };
    return parsed.metadata.kind === "array"
      ? new ZarrArray({ ...parts, metadata: parsed.metadata })
      : new ZarrGroup({ ...parts, metadata: parsed.metadata });
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ store: store.description, path });
    throw error;
  }
}

export function specOf(store: Store): StoreSpec {
  return { kind: "object", description: store.description };
}
