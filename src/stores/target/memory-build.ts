import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../memory.ts";
import type { TargetBuild } from "../store.ts";
import type { TargetPlace, TargetPlaceOptions } from "./options.ts";

/** Returns the place of a store in memory, which gets the name `memory:NAME` when it is published. */
export function memoryPlace(name: string): TargetPlace {
  return {
    check: async (options) => assertPlaceFree(name, options),
    open: async (options) => openMemoryBuild(name, options),
  };
}

function openMemoryBuild(name: string, options: TargetPlaceOptions): TargetBuild {
  assertPlaceFree(name, options);
  const store = new MemoryStore(descriptionOf(name));
  return {
    store,
    reopen: async () => store,
    async publish({ signal } = {}) {
      throwIfAborted(signal);
      assertPlaceFree(name, options);
      nameMemoryStore(name, store);
    },
    discard: async () => {},
  };
}

/** @throws `target-exists` */
function assertPlaceFree(name: string, { ifExists }: TargetPlaceOptions): void {
  if (ifExists === "replace" || namedMemoryStore(name) === undefined) return;
  throw new ZarrflowError("target-exists", `memory:${name} exists`, {
    store: descriptionOf(name),
    hint: 'Replace it, with ifExists: "replace" (--if-exists replace), or choose another target.',
  });
}

function descriptionOf(name: string): string {
  return `memory ${name}`;
}
