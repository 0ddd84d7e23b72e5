import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { DataType } from "../../meta/data-type.ts";
import { type Numbers, typedArrayOf } from "../../meta/number-kinds.ts";

/**
 * The items of a chunk as a typed array, which shares the chunk's memory if aligned; undefined if the type has none.
 */
export function numbersOfChunk(data: ChunkData, dataType: DataType): Numbers | undefined {
  const Numbers = typedArrayOf(dataType);
  if (Numbers === undefined || data.kind === "variable") return undefined;
  const { bytes } = data;
  const { buffer, byteOffset } = bytes.byteOffset % Numbers.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Numbers(buffer as ArrayBuffer, byteOffset, bytes.length / Numbers.BYTES_PER_ELEMENT);
}
