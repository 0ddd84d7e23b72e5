import { detectionKeys } from "../meta/detect.ts";
import { joinKey } from "../meta/join-key.ts";
import { isWritable, type Store, type StoreSpec, type WritableStore } from "../stores/store.ts";
import { openStore } from "../stores/url.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { ZarrNode } from "./node.ts";

/** A node's place in the whole hierarchy that it is part of. */
export interface Home {
  readonly store: WritableStore;
  readonly path: string;
}

/** A folder whose name says that it is the root of a hierarchy. */
const ROOT_NAME = /\.zarr$/i;

/**
 * Where a node is in its hierarchy. A directory that was opened at the node itself is opened above it again, as far as
 * the hierarchy reaches.
 *
 * @throws `unsupported-operation` for a store that cannot be written.
 */
export async function homeOf({
  store,
  spec,
  path,
}: Pick<ZarrNode, "store" | "spec" | "path">): Promise<Home> {
  if (spec.kind === "directory") return homeOfFolder(joinKey(spec.path, path));
  return { store: demandWritable(store), path };
}

/**
 * Where a folder, which need not exist, is in the hierarchy around it. That reaches up to the outermost folder above
 * it that is a node; folders between need not be nodes, but none beyond one called `*.zarr`, which is a root by its
 * name if by nothing else.
 */
export async function homeOfFolder(path: string): Promise<Home> {
  const names = path.replace(/\/$/, "").split("/");
  let root = names.length;
  let mayHaveGaps = !ROOT_NAME.test(names.at(-1) ?? "");
  for (let length = names.length - 1; length > 0; length--) {
    const isRoot = ROOT_NAME.test(names[length - 1] ?? "");
    if ((await isNode(names.slice(0, length))) || (mayHaveGaps && isRoot)) root = length;
    else if (!mayHaveGaps) break;
    mayHaveGaps &&= !isRoot;
  }
  const store = await openStore(folderSpec(names.slice(0, root)));
  return { store: demandWritable(store), path: names.slice(root).join("/") };
}

export function demandWritable(store: Store): WritableStore {
  if (isWritable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store cannot be written", {
    store: store.description,
  });
}

async function isNode(names: readonly string[]): Promise<boolean> {
  const store = await openStore(folderSpec(names));
  const sizes = await Promise.all(detectionKeys("").map((key) => store.size(key)));
  return sizes.some((size) => size !== undefined);
}

function folderSpec(names: readonly string[]): StoreSpec {
  return { kind: "directory", path: names.join("/") || "/" };
}
