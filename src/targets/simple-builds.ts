import { DOCUMENT_NAMES } from "../stores/key.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../stores/memory.ts";
import type { TargetBuild, WritableStore } from "../stores/store.ts";
import { wrapStore } from "../stores/with/wrap-store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { targetBuild } from "./build.ts";
import type { TargetPlace, TargetPlaceOptions } from "./options.ts";

/** Returns the place of a store in memory, which gets the name `memory:NAME` when it is published. */
export function memoryPlace(name: string): TargetPlace {
  return {
    check: async (options) => assertMemoryFree(name, options),
    open: async (options) => openMemoryBuild(name, options),
  };
}

function openMemoryBuild(name: string, options: TargetPlaceOptions): TargetBuild {
  assertMemoryFree(name, options);
  const store = new MemoryStore(descriptionOf(name));
  return targetBuild({
    store,
    async publish() {
      assertMemoryFree(name, options);
      nameMemoryStore(name, store);
    },
    discard: async () => {},
  });
}

/** @throws `target-exists` */
function assertMemoryFree(name: string, { ifExists }: TargetPlaceOptions): void {
  if (ifExists === "replace" || namedMemoryStore(name) === undefined) return;
  throw new ZarrflowError("target-exists", `memory:${name} exists`, {
    store: descriptionOf(name),
    hint: 'Replace it with ifExists: "replace" (--if-exists replace), or choose another target.',
  });
}

function descriptionOf(name: string): string {
  return `memory ${name}`;
}

/** Calls that create a value at a key. */
const WRITING: readonly string[] = ["set", "commit"];

/** Returns the place of a target in a store that cannot list its keys. */
export function unlistedPlace(store: WritableStore): TargetPlace {
  return {
    check: (options) => assertPlaceFree(store, options),
    open: (options) => openUnlistedBuild(store, options),
  };
}

/**
 * Builds a target under its final keys, in a store that cannot list its keys. The target is complete once its
 * documents are written, which come last. Only documents show whether the place is empty. Written keys are
 * remembered, and deleted if the build is discarded; in a store without `delete` they stay, without the documents
 * that were not written yet.
 *
 * @throws `target-exists`; `unsupported-operation` for a replacement, because the old values cannot be found.
 */
async function openUnlistedBuild(given: WritableStore, options: TargetPlaceOptions): Promise<TargetBuild> {
  await assertPlaceFree(given, options);
  const written = new Set<string>();
  const store = wrapStore(given, async ({ operation, key }, run) => {
    const answer = await run();
    if (WRITING.includes(operation)) written.add(key);
    return answer;
  });
  return targetBuild({
    store,
    isInPlace: true,
    async discard() {
      for (const key of [...written].reverse()) await given.delete(key); // documents were written last, and are deleted first
    },
  });
}

/** @throws as `openUnlistedBuild`. */
async function assertPlaceFree(
  store: WritableStore,
  { ifExists, signal }: TargetPlaceOptions,
): Promise<void> {
  const about = { store: store.description };
  if (ifExists === "replace") {
    throw new ZarrflowError(
      "unsupported-operation",
      "the target cannot be replaced, because the store cannot list its keys",
      { ...about, hint: "Empty the store yourself, or use one that can list its keys." },
    );
  }
  const sizes = await Promise.all(DOCUMENT_NAMES.map((key) => store.size(key, { signal })));
  const found = DOCUMENT_NAMES.find((_, i) => sizes[i] !== undefined);
  if (found === undefined) return;
  const hint = "Empty the store yourself, or choose another target.";
  throw new ZarrflowError("target-exists", "a node exists at the target", { ...about, key: found, hint });
}
