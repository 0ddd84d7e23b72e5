import { create, createGroup, openGroup, walk } from "../../src/index.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { product } from "../../src/util/shape.ts";

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
export async function makeGroup<T extends MemoryStore | string>(
  target: T,
  members: Readonly<Record<string, MadeMember>>,
  { zarrFormat, attributes = {}, consolidated = false }: MadeGroup,
): Promise<T> {
  await (await createGroup(target, { zarrFormat, attributes }, { consolidated })).close();
  for (const [path, { shape, dims, attributes: own = {} }] of Object.entries(members)) {
    const place = typeof target === "string" ? `${target}/${path}` : { store: target as MemoryStore, path };
    const array = await create(place, {
      shape,
      chunks: shape.map(() => 2),
      dataType: "int32",
      attributes: own,
      ...(dims && { dimensionNames: dims }),
    });
    await array.write(
      [],
      Int32Array.from({ length: product(shape) }, (_, i) => i + path.length),
    );
    await array.close();
  }
  return target;
}

/** Shapes of the arrays of a group, by path. */
export async function shapesIn(target: MemoryStore | string): Promise<Record<string, readonly number[]>> {
  const found: Record<string, readonly number[]> = {};
  for await (const node of walk(await openGroup(target)))
    if (node.kind === "array") found[node.path] = node.shape;
  return found;
}
