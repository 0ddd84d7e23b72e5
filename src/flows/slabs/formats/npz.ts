import { nameOf, uniqueName } from "../../../hierarchy/array-name.ts";
import { insideOf, type Slice } from "../../../hierarchy/slice.ts";
import { StoredEncoder } from "../../../stores/zip/stored-encoder.ts";
import type { FormatSliceOptions } from "./format-options.ts";
import { npyPieces } from "./npy.ts";

/** Writes slices as an `.npz` file: a zip with an `.npy` file for each slice, named after its array. */
export async function* npzPieces(
  slices: readonly Slice[],
  options: FormatSliceOptions,
): AsyncGenerator<Uint8Array> {
  const written: Uint8Array[] = [];
  const encoder = new StoredEncoder({
    write: async (bytes) => {
      written.push(bytes);
    },
    close: async () => {},
    abort: async () => {},
  });
  const names = new Set<string>();
  for (const slice of slices) {
    const name = await uniqueNameOf(slice, names);
    await encoder.begin(`${name}.npy`);
    yield* written.splice(0);
    for await (const piece of npyPieces(slice, options)) {
      await encoder.write(piece);
      yield* written.splice(0);
    }
    await encoder.end();
  }
  await encoder.finish();
  yield* written.splice(0);
}

async function uniqueNameOf(slice: Slice, taken: Set<string>): Promise<string> {
  const { array, close } = await insideOf(slice).open();
  await close();
  const name = uniqueName(nameOf(array), taken);
  taken.add(name);
  return name;
}
