import type { ChunkData, FixedData } from "../codecs/chunk-data.ts";
import type { ChunkSpec } from "../codecs/codec.ts";
import { fillData } from "../codecs/filled-data.ts";
import type { DataType } from "../meta/data-type.ts";
import {
  integerBytes,
  type NumberKind,
  numberBytes,
  numberKindOf,
  readNumber,
} from "../meta/number-kinds.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { coordsOf } from "../util/shape.ts";
import type { DecodedChunk, Region } from "./chunk.ts";
import type { Shift } from "./selection.ts";
import type { Stage } from "./stage.ts";

/**
 * Adds the selection's shift to the numbers of target chunks, such as 360 to longitudes beyond the seam. Missing chunks
 * become chunks with data. Numbers keep their data type.
 *
 * @throws `unsupported-operation` for an integer that becomes too large for its type
 */
export function shiftStage(
  shift: Shift,
  { spec, buffers = plainBuffers }: { readonly spec: ChunkSpec; readonly buffers?: Buffers },
): Stage<DecodedChunk, DecodedChunk> {
  return {
    push(chunk) {
      const given = chunk.data ?? fillData(spec, buffers);
      const data = shifted(given, spec.dataType, { region: chunk.region, offset: 0 }, shift, buffers);
      buffers.give(given.bytes);
      return [{ ...chunk, data }];
    },
  };
}

/** The results that data hold, and the offset of the first one in the data, in items. */
interface Held {
  readonly region: Region;
  readonly offset: number;
  /** Strides in the data; by default the data's own. */
  readonly strides?: readonly number[];
}

/** A copy of data with the results of a region shifted; the data themselves if there is no shift. */
export function shifted(
  data: ChunkData,
  dataType: DataType,
  { region, offset, ...held }: Held,
  shift: Shift | undefined,
  buffers: Buffers = plainBuffers,
): ChunkData {
  const kind = numberKindOf(dataType);
  if (shift === undefined || kind === undefined || data.kind === "variable") return data;
  const { dimension, runs } = shift;
  const { itemSize } = data;
  const strides = held.strides ?? data.strides;
  const bytes = buffers.take(data.bytes.length);
  bytes.set(data.bytes);
  for (const coords of coordsOf(region.shape)) {
    const result = (coords[dimension] ?? 0) + (region.start[dimension] ?? 0);
    const add = runs.findLast(({ from }) => from <= result)?.add ?? 0;
    if (add === 0) continue;
    const at = coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), offset) * itemSize;
    const item = bytes.subarray(at, at + itemSize);
    item.set(sum(item, add, kind));
  }
  return { ...data, bytes } satisfies FixedData;
}

function sum(item: Uint8Array, add: number, kind: NumberKind): Uint8Array {
  const number = readNumber(item, kind);
  if (kind.type.kind === "float") return numberBytes(Number(number) + add, kind);
  const value = BigInt(number) + BigInt(Math.round(add));
  const bytes = integerBytes(value, kind);
  if (bytes) return bytes;
  throw new ZarrflowError("unsupported-operation", "a shifted value is too large for its data type", {
    expected: `${kind.type.kind === "int" ? "a signed" : "an unsigned"} integer of ${item.length} bytes`,
    found: `${value}`,
    hint: "Use a range that does not cross the seam of the coordinate.",
  });
}
