import { expect } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/pipeline.ts";
import type { FixedData } from "../../../src/codecs/chunk-data.ts";
import type { FixedDataType } from "../../../src/meta/data-type.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { GuardedBuffers } from "../support.ts";

/** One array -> array codec in front of little-endian `bytes`; chunks as bytes, and no buffer is lost. */
export async function valueChain(
  name: string,
  configuration: JsonObject,
  dataType: FixedDataType,
  items: number,
  fillValue: Uint8Array | null = null,
) {
  const configs = [
    { name, configuration },
    { name: "bytes", configuration: { endian: "little" } },
  ];
  const pipeline = await createPipeline(configs, { shape: [items], dataType, fillValue });
  return {
    pipeline,
    async encode(bytes: Uint8Array): Promise<Uint8Array> {
      const buffers = new GuardedBuffers();
      const data: FixedData = {
        kind: "fixed",
        bytes: buffers.copyOf(bytes),
        itemSize: dataType.size,
        shape: [items],
        strides: [1],
      };
      return taken(buffers, () => pipeline.encode(data, buffers));
    },
    async decode(bytes: Uint8Array): Promise<Uint8Array> {
      const buffers = new GuardedBuffers();
      return taken(buffers, async () => (await pipeline.decode(buffers.copyOf(bytes), buffers)).bytes);
    },
  };
}

async function taken(buffers: GuardedBuffers, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    const made = await make();
    const copy = made.slice();
    buffers.give(made);
    return copy;
  } finally {
    expect(buffers.live).toBe(0);
  }
}

/** The bytes of a typed array. */
export const bytesOf = (numbers: ArrayBufferView): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength).slice();
