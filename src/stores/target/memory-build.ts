import { ZarrflowError } from "../../util/errors.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../memory.ts";
import type { TargetBuild } from "../store.ts";
import type { TargetBuildOptions } from "./options.ts";

/** Builds a store in memory that `memory:NAME` stands for once it is published. */
export function openMemoryBuild(name: string, { ifExists }: TargetBuildOptions): TargetBuild {
  const store = new MemoryStore(`memory ${name}`);
  const checkPlace = () => {
    if (ifExists === "replace" || namedMemoryStore(name) === undefined) return;
    throw new ZarrflowError("target-exists", `memory:${name} exists`, {
      store: store.description,
      hint: "Replace it, or name another target.",
    });
  };
  checkPlace();
  return {
    store,
    reopen: async () => store,
    async publish({ signal } = {}) {
      signal?.throwIfAborted();
      checkPlace();
      nameMemoryStore(name, store);
    },
    discard: async () => {},
  };
}
