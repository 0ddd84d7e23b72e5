import { MemoryStore, nameMemoryStore } from "../../../stores/memory.ts";
import { isListable, isWritable, type StoreSpec } from "../../../stores/store.ts";
import { SCRATCH_PREFIX } from "../../../stores/target/leftovers.ts";
import { PrefixLock } from "../../../stores/target/prefix-lock.ts";
import { openStore, parseStoreUrl } from "../../../stores/url.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { assertGridStrategy, type GridStrategy } from "../../plan/strategies/strategies.ts";
import type { Scratch } from "./scratch.ts";

/** The store that a path or URL for scratch objects names. @throws as `parseStoreUrl` */
export function parseScratch(place: string | undefined): StoreSpec | undefined {
  return place === undefined ? undefined : parseStoreUrl(place).spec;
}

/** The strategy that is asked for; `direct` where scratch objects have no place: in browsers, unless they are given one. */
export function possibleStrategy(
  strategy: GridStrategy | undefined,
  place: StoreSpec | undefined,
): GridStrategy | undefined {
  assertGridStrategy(strategy);
  const hasFolders = globalThis.process?.versions?.node !== undefined;
  return strategy ?? (hasFolders || place ? undefined : "direct");
}

export interface OpenScratchOptions {
  /** A folder or any other store; the system's folder for temporary files by default. */
  readonly place: StoreSpec | undefined;
  /** Bytes that will be written. */
  readonly bytes: number;
}

/**
 * Makes an empty place for scratch objects, under a name of its own within the store that is given.
 *
 * @throws `no-space` where a disk has less than is needed; `invalid-option` for what is neither a folder, a bucket nor memory.
 */
export async function openScratch({ place, bytes }: OpenScratchOptions): Promise<Scratch> {
  if (place === undefined || place.kind === "directory") {
    return (await import("./scratch-folder.node.ts")).openScratchFolder(place?.path, bytes);
  }
  const spec = below(place, `${SCRATCH_PREFIX}${crypto.randomUUID().slice(-12)}`);
  const store = spec && (await openStore(spec));
  if (store === undefined || !isWritable(store) || !isListable(store)) {
    await store?.close?.();
    throw new ZarrflowError("invalid-option", "scratch objects cannot be put there", {
      found: place.kind,
      hint: "Give a folder, or a prefix of a bucket.",
    });
  }
  const lock = await PrefixLock.take(store); // tells whoever cleans up that it is in use
  const removeBelow = async (folder: string) => {
    for await (const { key } of store.list(folder)) await store.delete(key);
  };
  return {
    store,
    ...(spec?.kind !== "memory" && { spec }),
    removePass: (pass) => removeBelow(`${pass}/`),
    async remove() {
      try {
        await removeBelow("");
        await lock?.release();
      } finally {
        await store.close?.();
        if (spec?.kind === "memory") nameMemoryStore(spec.name, undefined);
      }
    },
  };
}

/** A place of its own below another; undefined where there can be none. */
function below(place: StoreSpec, name: string): StoreSpec | undefined {
  if (place.kind === "s3")
    return { ...place, prefix: place.prefix === "" ? name : `${place.prefix}/${name}` };
  if (place.kind !== "memory") return undefined;
  nameMemoryStore(name, new MemoryStore());
  return { kind: "memory", name };
}
