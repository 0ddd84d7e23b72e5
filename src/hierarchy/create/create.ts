import type { CodecJson } from "../../codecs/registry.ts";
import type { CodecConfig } from "../../meta/array-metadata.ts";
import { type DataType, isFixed } from "../../meta/data-type.ts";
import type { DataTypeOption, NameOfOption } from "../../meta/data-type-option.ts";
import { withoutShards } from "../../meta/shards.ts";
import { writeV3Codec } from "../../meta/v3/codec.ts";
import { writeFillV3 } from "../../meta/v3/fill-value.ts";
import { toPlain } from "../../util/json-value.ts";
import { checkedOptions, invalidOption, isObject, type OptionNames } from "../../util/options.ts";
import { assertArray, type ZarrArray } from "../node.ts";
import { ArrayWriter, NODE_WRITER_OPTIONS, type NodeWriterOptions } from "../write/array.ts";
import { GroupWriter } from "../write/group.ts";
import { type FillOption, groupMetadata, type NewArray, type NewGroup } from "./metadata.ts";
import { type CreateTarget, resolveTarget } from "./place.ts";

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
  const place = await resolveTarget(target, {
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
  const place = await resolveTarget(target, {
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
    throw invalidOption(
      `this does not describe ${what === "array" ? "an array" : "a group"}`,
      "an object",
      value,
    );
}

/**
 * Describes a new array like an open one, for `create`: with its format, shape, data type, chunks, shards, codecs, fill
 * value, dimension names and attributes. Spread it into an object to override any of them.
 *
 * @example
 * ```ts
 * import { create, like, openArray } from "zarrflow";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * const celsius = await create("celsius.zarr", { ...like(t2m), chunks: [744, 11, 7], attributes: { units: "degC" } });
 * console.log(celsius.dataType, celsius.shape.join(" x ")); // float32 744 x 33 x 49
 * await celsius.abort();
 * ```
 */
export function like(array: ZarrArray): NewArray {
  assertArray(array);
  const { metadata, layout } = array;
  const { innerChunkShape, chunkShape } = metadata.chunkGrid;
  const { shape, dataType, chunkGrid, codecs, fillValue, dimensionNames, attributes } =
    withoutShards(metadata);
  // a plain value can be converted to another data type; other kinds are given as bytes
  const isPlain = PLAIN_KINDS.includes(dataType.kind);
  const fill = fillValue.bytes && isPlain ? writeFillV3(fillValue.bytes, dataType) : undefined;
  return {
    ...(layout.zarrFormat !== "v3-draft-2020" && { zarrFormat: layout.zarrFormat }),
    shape,
    dataType,
    chunks: chunkGrid.chunkShape,
    ...(innerChunkShape && { shards: chunkShape }),
    codecs: codecs.map((codec) => jsonOf(codec, isFixed(dataType) ? dataType.size : 1)),
    fillValue: fill === undefined ? fillValue.bytes : (toPlain(fill) as FillOption),
    ...(dimensionNames && { dimensionNames }),
    attributes: toPlain(attributes),
  };
}

const PLAIN_KINDS: readonly DataType["kind"][] = ["bool", "int", "uint", "float", "complex", "string"];

/** A codec in the form of v3, or with its own name if v3 has none for it. */
function jsonOf(codec: CodecConfig, itemSize: number): CodecJson {
  const { name, configuration } = codec;
  return toPlain(writeV3Codec(codec, itemSize) ?? { name, configuration }) as CodecJson;
}
