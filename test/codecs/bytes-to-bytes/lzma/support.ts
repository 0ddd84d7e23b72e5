import { createLzma } from "../../../../src/codecs/bytes-to-bytes/lzma/codec.ts";
import { createPipeline } from "../../../../src/codecs/chain/pipeline.ts";
import type { BytesToBytesCodec } from "../../../../src/codecs/codec.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { guarded, RAW, specOf } from "../../support.ts";

export function lzma(configuration: JsonObject = {}): BytesToBytesCodec {
  const spec = specOf([1], RAW(1));
  const context = { spec, itemSize: 1, endian: "little", pipelineOf: createPipeline } as const;
  return createLzma(configuration, context) as BytesToBytesCodec;
}

export function decode(source: Uint8Array, size: number, configuration: JsonObject = {}): Uint8Array {
  const { bytes, check } = guarded(size);
  try {
    return bytes.slice(0, lzma(configuration).decodeInto(source, bytes) as number);
  } finally {
    check();
  }
}

export function encode(source: Uint8Array, configuration: JsonObject = {}): Uint8Array {
  const codec = lzma(configuration);
  const { bytes, check } = guarded(codec.maxEncodedSize(source.length));
  const size = codec.encodeInto(source, bytes) as number;
  check();
  return bytes.slice(0, size);
}
