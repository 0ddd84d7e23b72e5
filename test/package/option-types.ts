import {
  type ArrayWriter,
  create,
  createGroup,
  like,
  type NewArray,
  rechunk,
  slice,
  writeRegion,
  type ZarrArray,
} from "zarrflow";

/** Optional members may be undefined, also where `exactOptionalPropertyTypes` tells the two apart. */
export async function undefinedMembers(maxMemory: string | undefined): Promise<unknown[]> {
  const options = {
    maxMemory,
    ...{ threads: undefined, codec: undefined, to: undefined, retry: { attempts: undefined } },
    ...{ ifExists: undefined, verify: undefined, onEvent: undefined, signal: undefined, sel: undefined },
  };
  const reading = { sel: undefined, nearest: undefined, consistent: undefined, maxMemory };
  const array = { dataType: "int8", codec: undefined, fillValue: undefined, attributes: undefined } as const;
  return [
    await rechunk("a.zarr", "b.zarr", { chunks: "auto", ...options }),
    await create("c.zarr", { ...GRID, ...array }, { concurrency: undefined, writeEmptyChunks: undefined }),
    slice("a.zarr", {}, reading),
  ];
}

const GRID = { shape: [8], chunks: [4] };

/** Names that are written wrongly do not compile: see `narrowing.ts`. */
export async function names(): Promise<unknown[]> {
  const dataTypes: NewArray["dataType"][] = [
    ...(["float32", "complex_float64", "string", "binary", "U5", "S10", "r16", "V4"] as const),
    ...([
      "<f4",
      ">i2",
      "|b1",
      "|S10",
      "<U5",
      "<M8[ns]",
      ">m8[25us]",
      "datetime64[ns]",
      "timedelta64[3D]",
    ] as const),
    { name: "numpy.datetime64", configuration: { unit: "ns", scale_factor: 1 } },
    [
      ["x", "<i4"],
      ["y", "<f8", [2]],
    ],
    { kind: "float", size: 4 },
  ];
  const codecs: NewArray["codec"][] = [
    ...(["none", "zstd", "zstd:5", "gzip:9", "lz4", "bz2:1", "blosc", "blosc:lz4:5:shuffle"] as const),
    '{"id": "zstd", "level": 5}',
    { name: "mine", configuration: { key: 7 } },
  ];
  return [
    ...dataTypes,
    ...codecs,
    // @ts-expect-error no data type has this name
    create("a.zarr", { ...GRID, dataType: "flaot32" }),
    // @ts-expect-error NumPy has no such size
    create("a.zarr", { ...GRID, dataType: "<f5" }),
    // @ts-expect-error no unit of time has this name
    create("a.zarr", { ...GRID, dataType: "datetime64[sec]" }),
    // @ts-expect-error no codec has this name
    create("a.zarr", { ...GRID, dataType: "int8", codec: "zstt" }),
    // @ts-expect-error a level is a number
    create("a.zarr", { ...GRID, dataType: "int8", codec: "zstd:high" }),
    // @ts-expect-error there is no such shuffle
    create("a.zarr", { ...GRID, dataType: "int8", codec: "blosc:lz4:5:shuffled" }),
    // @ts-expect-error there is no such format
    rechunk("a.zarr", "b.zarr", { chunks: "auto", to: "v4" }),
    // @ts-expect-error there is no such strategy
    rechunk("a.zarr", "b.zarr", { chunks: "auto", strategy: "fast" }),
    // @ts-expect-error nothing else can be done with a target
    rechunk("a.zarr", "b.zarr", { chunks: "auto", ifExists: "overwrite" }),
  ];
}

/** A writer takes items of its array's type, where that is known. */
export async function writers(array: ZarrArray): Promise<ArrayWriter[]> {
  const floats = await create("a.zarr", { ...GRID, dataType: "float32" });
  const name: "float32" = floats.dataType;
  await floats.write([], new Float32Array(8));
  await floats.write([], [1, 2, 3]);
  await floats.write([], new Uint8Array(32));
  await floats.append([new Float32Array(8), [1]]);
  await floats.writePart({ region: { start: [0], shape: [1] }, data: new Float32Array(1) });
  // @ts-expect-error these are no float32
  await floats.write([], new Float64Array(8));
  // @ts-expect-error texts are no float32
  await floats.write([], [name]);
  // @ts-expect-error these are no float32
  await floats.writePart({ region: { start: [0], shape: [1] }, data: new Float64Array(1) });

  const group = await createGroup("g.zarr");
  const times = await group.create("time", { ...GRID, dataType: "<M8[s]" });
  await times.write([], new BigInt64Array(8));
  await times.write([], [0n, 1]);
  // @ts-expect-error these are no times
  await times.write([], new Float64Array(8));
  const words = await group.create("words", { ...GRID, dataType: "U5" });
  await words.write([], ["a", "b"]);
  // @ts-expect-error these are no texts
  await words.write([], [1]);

  const any: ArrayWriter = floats;
  const alike = await create("b.zarr", { ...like(array), chunks: [2] });
  await alike.write([], new Float64Array(8));

  await writeRegion(array, [], new Float64Array(8));
  if (array.is("float32")) {
    await writeRegion(array, [], new Float32Array(8));
    // @ts-expect-error these are no float32
    await writeRegion(array, [], new Float64Array(8));
  }
  return [any, alike];
}
