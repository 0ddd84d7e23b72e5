import type { Store, StoreSpec } from "../../stores/store.ts";
import { parentSpec } from "../../stores/store-spec.ts";
import { openStore } from "../../stores/url.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";

/** A folder of a store, and a node at or below it. */
export interface Ancestor {
  readonly store: Store;
  readonly spec: StoreSpec;
  /** Path of the folder. */
  readonly path: string;
  /** Path of the node. */
  readonly nodePath: string;
  /** True if it is above the root of the given store. */
  readonly isOutside?: boolean;
}

/** Iterates over the node's own folder, then the folders above it, including those above the root of the store. */
export async function* ancestorsOf(store: Store, spec: StoreSpec, path: string): AsyncGenerator<Ancestor> {
  const names = path === "" ? [] : path.split("/");
  for (let length = names.length; length >= 0; length--) {
    yield { store, spec, path: names.slice(0, length).join("/"), nodePath: path };
  }
  let nodePath = path;
  for (let around = parentSpec(spec); around; around = parentSpec(around.spec)) {
    nodePath = nodePath === "" ? around.name : joinKey(around.name, nodePath);
    yield { store: await openStore(around.spec), spec: around.spec, path: "", nodePath, isOutside: true };
  }
}

const SILENT = ["access-denied", "invalid-metadata", "unsupported-format", "path-not-allowed"] as const;

/** True for errors of a folder above a node that is inaccessible or broken, and so irrelevant to the node. */
export function isUnreadableAbove(error: unknown): boolean {
  return SILENT.some((code) => isZarrflowError(error, code));
}
