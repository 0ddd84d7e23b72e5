import {
  type DataTypeName,
  open,
  openArray,
  type Slice,
  type SliceChunk,
  slice,
  type ZarrArray,
} from "zarrflow";

/** What TypeScript knows of items: compiled against the package by `declarations.test.ts`, and never run. */
export async function narrowing(array: ZarrArray): Promise<unknown[]> {
  const known: unknown[] = [];
  if (array.is("float32")) {
    const { data } = await slice(array, { time: 0 }).read();
    const items: Float32Array = data;
    const first: number | undefined = data[0];
    // @ts-expect-error items are numbers
    const text: string | undefined = data[0];
    const name: "float32" = array.dataType;
    const part: Float32Array = chunkData(slice(array));
    const any: ZarrArray = array;
    known.push(items, first, text, name, part, any);
  }
  if (array.is("int64")) {
    const { data } = await slice(array).read();
    const first: bigint | undefined = data[0];
    // @ts-expect-error items are bigints
    const number: number | undefined = data[0];
    known.push(first, number);
  }
  if (array.is("datetime64[ns]")) {
    const first: bigint | undefined = (await slice(array).read()).data[0];
    known.push(first);
  }
  if (array.is("string") || array.is("U12")) {
    const first: string | undefined = (await slice(array).read()).data[0];
    // @ts-expect-error items are texts
    const number: number | undefined = (await slice(array).read()).data[0];
    known.push(first, number);
  }
  if (array.is("S4")) {
    const first: Uint8Array | undefined = (await slice(array).read()).data[0];
    known.push(first);
  }
  // @ts-expect-error no data type has this name
  if (array.is("float33")) known.push(array);

  const { data } = await slice(await openArray("any.zarr")).read();
  // @ts-expect-error nothing is known of the items
  const unknownItem: number | undefined = data[0];
  known.push(unknownItem);
  return known;
}

/** In the cases of a switch, all that gives items gives those of the data type. */
export async function switched(array: ZarrArray): Promise<unknown[]> {
  const known: unknown[] = [];
  switch (array.dataType) {
    case "float32": {
      const read: Float32Array = (await array.slice().read()).data;
      const sliced: Float32Array = (await slice(array).read()).data;
      const chunk: Float32Array = (await array.chunk([0])).data;
      const part: Float32Array = chunkData(array.slice());
      known.push(read, sliced, chunk, part);
      break;
    }
    case "int64":
    case "timedelta64[s]": {
      const items: BigInt64Array = (await array.chunk([0])).data;
      known.push(items);
      break;
    }
    case "U5": {
      const first: string | undefined = (await array.slice().read()).data[0];
      known.push(first);
      break;
    }
    // @ts-expect-error no data type has this name
    case "float33":
      break;
    default: {
      const { data } = await array.slice().read();
      known.push(data);
    }
  }
  return known;
}

/** Groups of data types, by what their items are in JavaScript. */
export async function grouped(array: ZarrArray): Promise<unknown> {
  if (array.is("number")) {
    const first: number | undefined = (await array.slice().read()).data[0];
    if (array.dataType === "int8") return (await array.chunk([0])).data satisfies Int8Array;
    return first;
  }
  if (array.is("bigint")) return (await array.slice().read()).data[0] satisfies bigint | undefined;
  if (array.is("boolean")) return (await array.slice().read()).data satisfies Uint8Array;
  if (array.is("string")) return (await array.slice().read()).data[0] satisfies string | undefined;
  if (array.is("bytes")) return (await array.slice().read()).data[0] satisfies Uint8Array | undefined;
  // @ts-expect-error all floats were numbers
  return array.dataType === "float32";
}

/** A node that may be a group is told first. */
export async function opened(): Promise<ZarrArray<"float32"> | undefined> {
  const node = await open("any.zarr");
  return node.kind === "array" && node.is("float32") ? node : undefined;
}

/** What the chunks of a slice hold. */
declare function chunkData<Name extends DataTypeName>(slice: Slice<Name>): SliceChunk<Name>["data"];
