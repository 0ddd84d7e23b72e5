import { expect } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/pipeline.ts";
import type { VariableData } from "../../../src/codecs/chunk-data.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { GuardedBuffers, specOf } from "../support.ts";

/** Encodes and decodes whole chunks of variable data by one codec, and holds that no buffer is lost. */
export async function variableCodec(
  name: string,
  configuration: JsonObject,
  dataType: DataType,
  shape: readonly number[],
) {
  const pipeline = await createPipeline([{ name, configuration }], specOf(shape, dataType));
  return {
    async encode(items: readonly Uint8Array[]): Promise<Uint8Array> {
      const buffers = new GuardedBuffers();
      const encoded = await pipeline.encode(packed(items, shape, buffers), buffers);
      const copy = encoded.slice();
      buffers.give(encoded);
      expect(buffers.live).toBe(0);
      return copy;
    },
    async decode(bytes: Uint8Array): Promise<Uint8Array[]> {
      const buffers = new GuardedBuffers();
      try {
        const data = (await pipeline.decode(buffers.copyOf(bytes), buffers)) as VariableData;
        const items = Array.from({ length: data.offsets.length - 1 }, (_, i) =>
          data.bytes.slice(data.offsets[i], data.offsets[i + 1]),
        );
        buffers.give(data.bytes);
        return items;
      } finally {
        expect(buffers.live).toBe(0);
      }
    },
  };
}

function packed(
  items: readonly Uint8Array[],
  shape: readonly number[],
  buffers: GuardedBuffers,
): VariableData {
  const offsets = new Uint32Array(items.length + 1);
  items.forEach((item, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + item.length;
  });
  return { kind: "variable", bytes: buffers.copyOf(Buffer.concat(items)), offsets, shape };
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
