import { afterEach } from "vitest";
import { nameMemoryStore } from "../../src/stores/memory.ts";

/** Makes URLs of stores in memory that are not there yet, and takes these stores away after each test. */
export function memoryTargets(): (name: string) => string {
  const used = new Set<string>();
  afterEach(() => {
    for (const name of used) nameMemoryStore(name, undefined);
  });
  return (name) => {
    used.add(name);
    nameMemoryStore(name, undefined);
    return `memory:${name}`;
  };
}
