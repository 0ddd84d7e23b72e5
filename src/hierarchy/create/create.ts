import type { DataTypeOption, NameOfOption } from "../../meta/data-type-option.ts";
import { checkedOptions, invalid, isObject, type OptionNames } from "../../util/options.ts";
import { ArrayWriter, NODE_WRITER_OPTIONS, type NodeWriterOptions } from "../write/array.ts";
import { GroupWriter } from "../write/group.ts";
import { groupMetadata, type NewArray, type NewGroup } from "./metadata.ts";
import { type CreateTarget, placeOf } from "./place.ts";

export interface CreateOptions extends NodeWriterOptions {
  /** Action if the node already exists; `error` by default. */
  readonly ifExists?: "error" | "replace" | undefined;
  /** Allows names beyond ASCII in v2 too. */
  readonly allowUnicode?: boolean | undefined;
}

const CREATE_OPTIONS: OptionNames<CreateOptions> = {
  ...NODE_WRITER_OPTIONS,
  ifExists: true,
  allowUnicode: true,
};

export interface CreateGroupOptions extends CreateOptions {
  /** Collects the documents of all nodes in the group in one document, which many readers check first. */
  readonly consolidated?: boolean | undefined;
}

const CREATE_GROUP_OPTIONS: OptionNames<CreateGroupOptions> = {
  ...CREATE_OPTIONS,
  consolidated: true,
};

/**
 * Starts a new array, to be written and then closed. The target of a URL is built beside its final name: it becomes
 * visible, complete, when the writer closes, and replaces an old node only then. In a store of the caller, chunks are
 * written to their final keys and the documents last; an old node there is deleted first. Missing groups above are
 * created on closing, and their consolidated metadata are updated.
 *
 * @throws `target-exists`, `target-not-empty`; `path-not-allowed` below an array; `invalid-node-name`;
 *   `invalid-option`, `unsupported-data-type`, `unsupported-codec`, `loss-refused` if the format cannot represent the
 *   array.
 * @example
 * ```ts
 * import { create } from "zarrflow";
 *
 * const t2m = await create("week.zarr/t2m", {
 *   shape: [168, 33, 49],
 *   dataType: "float32",
 *   chunks: [24, -1, -1],
 *   codec: "zstd:5",
 *   dimensionNames: ["time", "latitude", "longitude"],
 *   attributes: { units: "K" },
 * });
 * try {
 *   for (let hour = 0; hour < 168; hour += 24) {
 *     await t2m.write({ time: [hour, hour + 24] }, new Float32Array(24 * 33 * 49).fill(283.5));
 *   }
 *   await t2m.close();
 * } catch (error) {
 *   await t2m.abort(error);
 *   throw error;
 * }
 * ```
 */
export async function create<Type extends DataTypeOption>(
  target: CreateTarget,
  array: NewArray<Type>,
  given: CreateOptions = {},
): Promise<ArrayWriter<NameOfOption<Type>>> {
  const options = checkedOptions(given, CREATE_OPTIONS);
  assertDescription(array, "array");
  const place = await placeOf(target, {
    ...options,
    zarrFormat: array.zarrFormat,
    kind: "array",
    mustBeEmpty: true,
  });
  return ArrayWriter.begin(place, array, options);
}

/**
 * Starts a new group, to be filled with arrays and groups and then closed: everything becomes visible at once. To add a
 * node to an existing group, `create` it at its own URL.
 *
 * @throws as `create`.
 * @example
 * ```ts
 * import { createGroup } from "zarrflow";
 *
 * const group = await createGroup("day.zarr.zip", { attributes: { title: "a day" } });
 * const time = await group.create("time", { shape: [24], dataType: "int32", chunks: [24], dimensionNames: ["time"] });
 * await time.write({ time: [0, 24] }, Int32Array.from({ length: 24 }, (_, hour) => hour));
 * await time.close();
 * await group.close();
 * ```
 */
export async function createGroup(
  target: CreateTarget,
  group: NewGroup = {},
  given: CreateGroupOptions = {},
): Promise<GroupWriter> {
  const options = checkedOptions(given, CREATE_GROUP_OPTIONS);
  assertDescription(group, "group");
  const place = await placeOf(target, {
    ...options,
    zarrFormat: group.zarrFormat,
    kind: "group",
    mustBeEmpty: options.consolidated,
  });
  const metadata = groupMetadata(group, place.layout);
  return new GroupWriter(await place.begin(metadata), metadata, options);
}

function assertDescription(value: unknown, what: string): void {
  if (!isObject(value))
    throw invalid(`this does not describe ${what === "array" ? "an array" : "a group"}`, "an object", value);
}
