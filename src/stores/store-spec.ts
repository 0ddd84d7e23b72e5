import { ZarrflowError } from "../util/errors.ts";
import { files } from "./files.node.ts";
import { keepPrivateAccess } from "./remote/private-access.ts";
import { isWritable, type Store, type StoreSpec } from "./store.ts";
import { withFolder, withWritableFolder } from "./with/folder.ts";
import { wrapStore } from "./with/wrap-store.ts";

/** Returns the folder that contains the root of a store, and the root's name in it; undefined without a parent. */
export function parentSpec(spec: StoreSpec): { readonly spec: StoreSpec; readonly name: string } | undefined {
  if (spec.kind === "directory") {
    const slash = spec.path.lastIndexOf("/");
    const name = spec.path.slice(slash + 1);
    if (name === "" || slash < 0) return undefined;
    const path = spec.path.slice(0, slash);
    return { spec: { ...spec, path: /^(?:[a-z]:)?$/i.test(path) ? `${path}/` : path }, name };
  }
  if (spec.kind === "http") {
    const [, url, name] = /^([^/]+:\/\/[^/]+(?:\/.*)?)\/([^/]+)$/.exec(spec.url) ?? [];
    return url && name ? { spec: keepPrivateAccess(spec, { ...spec, url }), name: decoded(name) } : undefined;
  }
  if (spec.kind === "s3" && spec.prefix !== "") {
    const slash = spec.prefix.lastIndexOf("/");
    const prefix = spec.prefix.slice(0, Math.max(0, slash));
    return { spec: keepPrivateAccess(spec, { ...spec, prefix }), name: spec.prefix.slice(slash + 1) };
  }
  return undefined;
}

/** Returns the spec of the folder at `path` as the root of its own store; undefined if no spec can name it. */
export function childSpec(spec: StoreSpec, path: string): StoreSpec | undefined {
  if (path === "") return spec;
  if (spec.kind === "directory") return { ...spec, path: `${spec.path.replace(/\/$/, "")}/${path}` };
  if (spec.kind === "http") {
    const url = [spec.url, ...path.split("/").map(encodeURIComponent)].join("/");
    return keepPrivateAccess(spec, { ...spec, url });
  }
  if (spec.kind === "s3") {
    const prefix = [spec.prefix, path].filter(Boolean).join("/");
    return keepPrivateAccess(spec, { ...spec, prefix });
  }
  return undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // percent signs that do not encode a character
  }
}

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

/** Returns the access to files of this machine. @throws `unsupported-operation` in browsers, which have none. */
export const machineFiles = (): NonNullable<typeof files> => onThisMachine(files);

/** Asserts that this platform has a part that needs the file system. @throws `unsupported-operation` in browsers. */
export function onThisMachine<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new ZarrflowError(
    "unsupported-operation",
    "paths of local files and folders cannot be used on this platform",
    {
      hint: "Use a URL (https://, s3://, memory:), or a store that the program opened.",
    },
  );
}
