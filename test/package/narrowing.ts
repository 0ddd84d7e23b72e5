import { openArray, type Slice, type SliceChunk, slice, type ZarrArray } from "zarrflow";

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
    known.push(items, first, text, name, part);
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

/** What the chunks of a slice hold. */
declare function chunkData<Name extends string>(slice: Slice<Name>): SliceChunk<Name>["data"];
