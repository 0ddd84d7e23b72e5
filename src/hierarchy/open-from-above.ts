import { detectDialect, isDraft } from "../meta/detect.ts";
import { joinKey } from "../meta/join-key.ts";
import type { Store, StoreSpec } from "../stores/store.ts";
import { openStore } from "../stores/url.ts";
import { ZarrflowError } from "../util/errors.ts";
import { consolidatedV2, consolidatedV3 } from "./consolidated.ts";
import type { ZarrNode } from "./node.ts";
import { nodeIn, type OpenNodeOptions } from "./open-node.ts";

/** A folder of a store, and a node at or below it. */
interface Ancestor {
  readonly store: Store;
  readonly spec: StoreSpec;
  /** Path of the folder. */
  readonly path: string;
  /** Path of the node. */
  readonly nodePath: string;
}

/**
 * The node at `path` that has no documents of its own, by what lies above it: consolidated metadata of a group, or
 * the hierarchy document of the draft of 2019; undefined when there is neither.
 *
 * @throws `unsupported-format` below a draft; `invalid-metadata` for a broken document above.
 * @see V2-78, V3-19
 */
export async function openFromAbove(
  store: Store,
  spec: StoreSpec,
  path: string,
  { dialect, signal }: Pick<OpenNodeOptions, "dialect" | "signal">,
): Promise<ZarrNode | undefined> {
  for await (const ancestor of ancestorsOf(store, spec, path)) {
    const node = await openFrom(ancestor, signal);
    if (node && (dialect === undefined || node.layout.dialect === dialect)) return node;
  }
  return undefined;
}

async function openFrom(
  { store, spec, path, nodePath }: Ancestor,
  signal: AbortSignal | undefined,
): Promise<ZarrNode | undefined> {
  const document = await store.get(joinKey(path, "zarr.json"), { signal });
  if (document && isDraft(document, path)) {
    throw new ZarrflowError("unsupported-format", "nodes of the 2019 draft of Zarr v3 cannot be read yet", {
      format: "v3-draft-2019",
      path: nodePath,
      key: joinKey(path, "zarr.json"),
      pointer: "/zarr_format",
    });
  }
  const consolidated =
    (document && consolidatedV3(document, path)) ?? (await consolidatedV2(store, path, { signal }));
  if (consolidated === undefined || detectDialect(consolidated, nodePath) === undefined) return undefined;
  return nodeIn(consolidated, store, nodePath, { spec, areConsolidated: true });
}

/** The node's own folder first, then those above it; of a directory also the folders that its path lies in. */
async function* ancestorsOf(store: Store, spec: StoreSpec, path: string): AsyncGenerator<Ancestor> {
  const names = path === "" ? [] : path.split("/");
  for (let length = names.length; length >= 0; length--) {
    yield { store, spec, path: names.slice(0, length).join("/"), nodePath: path };
  }
  if (spec.kind !== "directory") return;
  const folders = spec.path.split("/");
  for (let length = folders.length - 1; length > 0; length--) {
    const above = { ...spec, path: folders.slice(0, length).join("/") || "/" };
    const nodePath = [...folders.slice(length), ...names].join("/");
    yield { store: await openStore(above), spec: above, path: "", nodePath };
  }
}
