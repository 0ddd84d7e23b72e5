import { ZarrflowError } from "../util/errors.ts";
import { invalidOption, isObject } from "../util/options.ts";
import {
  isListable,
  isWritable,
  type ListableStore,
  type Store,
  type StoreSpec,
  type WritableStore,
} from "./store.ts";

/** @throws `unsupported-operation` if the store cannot be written. */
export function assertWritable(store: Store): WritableStore {
  if (isWritable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store is read-only", {
    store: store.description,
  });
}

/**
 * Checks that a value can name a place: a string, a `URL`, any store, a store or a spec with a path, or a node. A
 * source may also be a spec alone.
 *
 * @throws `invalid-option`
 */
export function assertPlace(value: unknown, what: "source" | "target"): void {
  if (typeof value === "string" || value instanceof URL || isStore(value)) return;
  if (isObject(value)) {
    if ("layout" in value && "store" in value && isStore(value.store)) return;
    if (what === "source" && isSpec(value)) return;
    const holdsPlace = "store" in value ? isStore(value.store) : "spec" in value && isSpec(value.spec);
    if (holdsPlace && "path" in value && typeof value.path === "string") return;
  }
  throw invalidOption(
    `this is not ${what === "source" ? "a source" : `a ${what}`}`,
    what === "source"
      ? "a URL, a store, { store, path }, the spec of a store, { spec, path } or a node"
      : "a URL, a store, { store, path }, { spec, path } or a node",
    value,
  );
}

/** Replaces a `URL` object by its text and returns any other place unchanged. */
export function textOfUrl<Place>(place: Place): Exclude<Place, URL> | string {
  return place instanceof URL ? place.href : (place as Exclude<Place, URL>);
}

const KINDS: readonly StoreSpec["kind"][] = [
  "directory",
  "zip",
  "zip-value",
  "memory",
  "http",
  "s3",
  "object",
];

function isSpec(value: unknown): boolean {
  return isObject(value) && "kind" in value && KINDS.some((kind) => kind === value.kind);
}

function isStore(value: unknown): boolean {
  return isObject(value) && "get" in value && typeof value.get === "function";
}

/** @throws `unsupported-operation` if the store cannot list its keys. */
export function assertListable(store: Store): ListableStore {
  if (isListable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store cannot list its keys", {
    store: store.description,
  });
}
