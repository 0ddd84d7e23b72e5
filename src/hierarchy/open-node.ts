import type { DialectName } from "../meta/array-metadata.ts";
import { detectDialect, detectionKeys } from "../meta/detect.ts";
import type { Documents } from "../meta/dialect.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { joinKey } from "../meta/join-key.ts";
import type { Store, StoreSpec } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";
import { ZarrArray, ZarrGroup, type ZarrNode } from "./node.ts";

export interface OpenNodeOptions {
  /** Tells another process how to open the store. */
  readonly spec?: StoreSpec;
  /** The dialect to take, where documents of several are there; else the first in detection order. */
  readonly dialect?: DialectName;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The node at `path` of a store, whatever its dialect, by its own documents; undefined when there is none.
 *
 * @throws `invalid-metadata`, `unsupported-*`, with store, path, key and pointer.
 */
export async function openNode<S extends Store>(
  store: S,
  path: string,
  { signal, ...options }: OpenNodeOptions = {},
): Promise<ZarrNode<S> | undefined> {
  const { dialect } = options;
  const keys = dialect
    ? dialectNamed(dialect).layout(path).documentKeys
    : [...detectionKeys(path), joinKey(path, ".zattrs")];
  const values = await Promise.all(keys.map((key) => store.get(key, { signal })));
  const documents = new Map(keys.flatMap((key, i) => (values[i] ? [[key, values[i]]] : [])));
  return nodeIn(documents, store, path, options);
}

export interface NodeInOptions extends Pick<OpenNodeOptions, "spec" | "dialect"> {
  /** Whether `documents` are those of consolidated metadata, which alone hold them. */
  readonly areConsolidated?: boolean;
}

/** The node at `path` that `documents` describe; undefined when they describe none. @throws as `openNode`. */
export function nodeIn<S extends Store>(
  documents: Documents,
  store: S,
  path: string,
  {
    spec = { kind: "object", description: store.description },
    dialect: asked,
    areConsolidated,
  }: NodeInOptions,
): ZarrNode<S> | undefined {
  try {
    const detected = asked ? { dialect: asked, findings: [] } : detectDialect(documents, path);
    if (!detected) return undefined;
    const dialect = dialectNamed(detected.dialect);
    const layout = dialect.layout(path);
    const parsed = dialect.parse(documents, layout);
    if (!parsed) return undefined;
    const parts = {
      store,
      spec,
      layout,
      documents,
      findings: [...detected.findings, ...parsed.findings],
      ...(areConsolidated && { consolidated: documents }),
    };
    return parsed.metadata.kind === "array"
      ? new ZarrArray({ ...parts, metadata: parsed.metadata })
      : new ZarrGroup({ ...parts, metadata: parsed.metadata });
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ store: store.description, path });
    throw error;
  }
}
