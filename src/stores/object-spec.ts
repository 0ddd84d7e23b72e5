import { isWritable, type Store, type StoreSpec } from "./store.ts";
import { withFolder, withWritableFolder } from "./with/folder.ts";
import { wrapStore } from "./with/wrap-store.ts";

type ObjectSpec = Extract<StoreSpec, { readonly kind: "object" }>;

/** The place that the spec of an object stands for in this process. */
export interface ObjectPlace {
  /** The folder as a store. Closing it has no effect, because the caller owns it. */
  readonly store: Store;
  /** The caller's object, and the path of the folder in it. */
  readonly root: Store;
  readonly path: string;
}

const places = new WeakMap<StoreSpec, ObjectPlace>();

/**
 * Returns a spec for the caller's store, or for a folder of it. The spec is valid in this process only, as this
 * very object: a copy from JSON merely names the store.
 */
export function specOfObject(root: Store, path = ""): ObjectSpec {
  const store = withoutClose(path === "" ? root : folderOf(root, path));
  const spec: ObjectSpec = { kind: "object", description: store.description };
  places.set(spec, { store, root, path });
  return spec;
}

/** Returns the place of a spec that `specOfObject` made; undefined for any other spec. */
export function objectPlace(spec: StoreSpec): ObjectPlace | undefined {
  return places.get(spec);
}

function folderOf(root: Store, path: string): Store {
  return isWritable(root) ? withWritableFolder(root, path) : withFolder(root, path);
}

function withoutClose(store: Store): Store {
  if (store.close === undefined) return store;
  const { close: _, ...rest } = wrapStore(store, (_call, run) => run());
  return rest;
}
