import {
  type CreateTarget,
  create,
  createGroup,
  type DataTypeOption,
  type NewArray,
  type NewGroup,
  type Values,
} from "../../src/index.ts";
import type { CodecOption } from "../../src/meta/codec-option.ts";
import { parseDataTypeOption } from "../../src/meta/data-type-option.ts";
import { typedArrayOf } from "../../src/meta/number-kinds.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { WritableStore } from "../../src/stores/store.ts";
import { product } from "../../src/util/shape.ts";

/** An array as `create` takes it, with its items. */
export interface GivenArray extends Omit<NewArray, "shape" | "chunks" | "dataType" | "codec"> {
  /** Checked when it is made, so that tests may compute it. */
  readonly dataType: DataTypeOption | string;
  readonly codec?: CodecOption | string;
  /** That of a list of values by default. */
  readonly shape?: readonly number[];
  /** One chunk by default. */
  readonly chunks?: readonly number[];
  /** Its items, or each one by its index in C order; 0, 1, 2, ... by default, none at all for null. */
  readonly values?: Values | ((index: number) => number | bigint | string | boolean) | null;
}

/** A group as `createGroup` takes it, with what is in it, by path. */
export interface GivenGroup extends NewGroup {
  readonly arrays?: Readonly<Record<string, GivenArray>>;
  /** Groups that have attributes, or no arrays; all others above arrays are made too. */
  readonly groups?: Readonly<Record<string, NewGroup>>;
  readonly consolidated?: boolean;
}

export type Given<T = CreateTarget> = (GivenArray | GivenGroup) & { readonly at?: T };

/** Makes an array, or a group with all that is in it, at a place or in a new store in memory, and gives that back. */
export async function given<T extends CreateTarget = MemoryStore>({ at, ...node }: Given<T>): Promise<T> {
  const target: CreateTarget = at ?? new MemoryStore();
  await ("dataType" in node ? fill(await create(target, newArray(node)), node) : makeGroup(target, node));
  return target as T;
}

async function makeGroup(target: CreateTarget, node: GivenGroup): Promise<void> {
  const { arrays = {}, groups = {}, consolidated = false, ...group } = node;
  const root = await createGroup(target, group, { consolidated });
  const writers = new Map([["", root]]);
  const groupAt = async (path: string): Promise<typeof root> => {
    const made = writers.get(path);
    if (made) return made;
    const [parent, name] = splitPath(path);
    const writer = await (await groupAt(parent)).createGroup(name, groups[path]);
    writers.set(path, writer);
    return writer;
  };
  for (const path of Object.keys(groups)) await groupAt(path);
  for (const [path, array] of Object.entries(arrays)) {
    const [parent, name] = splitPath(path);
    await fill(await (await groupAt(parent)).create(name, newArray(array)), array);
  }
  for (const writer of [...writers.values()].reverse()) await writer.close();
}

/** Stores values by key: bytes, texts, or what becomes JSON. */
export async function givenKeys(content: Readonly<Record<string, unknown>>): Promise<MemoryStore>;
export async function givenKeys<T extends Pick<WritableStore, "set">>(
  content: Readonly<Record<string, unknown>>,
  store: T,
): Promise<T>;
export async function givenKeys(
  content: Readonly<Record<string, unknown>>,
  store: Pick<WritableStore, "set"> = new MemoryStore(),
): Promise<Pick<WritableStore, "set">> {
  for (const [key, value] of Object.entries(content)) {
    const text = () => (typeof value === "string" ? value : JSON.stringify(value));
    await store.set(key, value instanceof Uint8Array ? value : new TextEncoder().encode(text()));
  }
  return store;
}

function newArray({ values, ...array }: GivenArray): NewArray {
  const shape = shapeOf({ values, ...array });
  return { chunks: shape.map(() => -1), ...array, shape } as NewArray;
}

function shapeOf({ shape, values }: Pick<GivenArray, "shape" | "values">): readonly number[] {
  return shape ?? [Array.from((values ?? []) as Iterable<unknown>).length];
}

async function fill(writer: Awaited<ReturnType<typeof create>>, array: GivenArray): Promise<void> {
  if (array.values !== null) await writer.write([], itemsOf(array));
  await writer.close();
}

function itemsOf({ dataType, values = (i) => i, ...array }: GivenArray): Values {
  if (typeof values !== "function") return values ?? [];
  const count = product(shapeOf(array));
  const Numbers = typedArrayOf(parseDataTypeOption(dataType).dataType);
  if (!Numbers) return Array.from({ length: count }, (_, i) => values(i));
  const numbers = new Numbers(count);
  const isBig = numbers instanceof BigInt64Array || numbers instanceof BigUint64Array;
  for (let i = 0; i < count; i++) numbers[i] = isBig ? BigInt(values(i)) : Number(values(i));
  return numbers;
}

/** The path above, and the name below it. */
function splitPath(path: string): [parent: string, name: string] {
  const end = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, end)), path.slice(end + 1)];
}
