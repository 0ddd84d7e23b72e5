import { openGroup, walk } from "../../src/index.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { type GivenArray, given } from "./given.ts";

export interface MadeMember {
  readonly shape: readonly number[];
  readonly dims?: readonly (string | null)[];
  readonly attributes?: Record<string, unknown>;
}

export interface MadeGroup {
  readonly zarrFormat: "v2" | "v3";
  readonly attributes?: Record<string, unknown>;
  readonly consolidated?: boolean;
}

/** Makes a group at a store, or in a folder, with arrays by path, each of other numbers. */
export function makeGroup<T extends MemoryStore | string>(
  at: T,
  members: Readonly<Record<string, MadeMember>>,
  group: MadeGroup,
): Promise<T> {
  const arrays: Record<string, GivenArray> = {};
  for (const [path, { shape, dims, attributes = {} }] of Object.entries(members)) {
    const array = { shape, chunks: shape.map(() => 2), dataType: "int32", attributes };
    const values = (i: number) => i + path.length;
    arrays[path] = { ...array, ...(dims && { dimensionNames: dims }), values };
  }
  return given({ at, ...group, arrays });
}

/** Shapes of the arrays of a group, by path. */
export async function shapesIn(target: MemoryStore | string): Promise<Record<string, readonly number[]>> {
  const found: Record<string, readonly number[]> = {};
  for await (const node of walk(await openGroup(target)))
    if (node.kind === "array") found[node.path] = node.shape;
  return found;
}
