import { joinKey } from "../../meta/join-key.ts";
import { parentSpec } from "../../stores/folder-spec.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { isZarrflowError } from "../../util/errors.ts";

/** A folder of a store, and a node at or below it. */
export interface Ancestor {
  readonly store: Store;
  readonly spec: StoreSpec;
  /** Path of the folder. */
  readonly path: string;
  /** Path of the node. */
  readonly nodePath: string;
  /** Whether it is beyond the root of the store that was asked for. */
  readonly isOutside?: boolean;
}

/** The node's own folder first, then those above it, beyond the root of the store too. */
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

/** Whether this is how a folder above a node fails that is not there for its reader, or is broken: it says nothing of the node. */
export function isUnreadableAbove(error: unknown): boolean {
  return SILENT.some((code) => isZarrflowError(error, code));
}
