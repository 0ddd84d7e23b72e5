import { isWritable, type Store, type StoreSpec } from "./store.ts";
import { withFolder, withWritableFolder } from "./with/folder.ts";
import { wrapStore } from "./with/wrap-store.ts";

type ObjectSpec = Extract<StoreSpec, { readonly kind: "object" }>;

/** What the spec of an object stands for in this process. */
export interface ObjectPlace {
  /** The folder itself; closing it does nothing, as it is the caller's. */
  readonly store: Store;
  /** The object, and where in it the folder is. */
  readonly root: Store;
  readonly path: string;
}

const places = new WeakMap<StoreSpec, ObjectPlace>();

/**
 * A spec that stands for a folder of a store that is the caller's, or for the whole store: in this process, as long as
 * it is that very object. Written down as JSON it only names that object.
 */
export function specOfObject(root: Store, path = ""): ObjectSpec {
  const store = withoutClose(path === "" ? root : folderOf(root, path));
  const spec: ObjectSpec = { kind: "object", description: store.description };
  places.set(spec, { store, root, path });
  return spec;
}

/** What a spec made by `specOfObject` stands for; undefined for any other. */
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
