import { expect, it } from "vitest";
import { slowestOf } from "../../src/codecs/descriptor.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import { costClassOf } from "../../src/meta/codec-costs.ts";

const codec = (name: string, configuration: CodecConfig["configuration"] = {}): CodecConfig => ({
  name,
  configuration,
});
const blosc = (cname: string) => codec("blosc", { cname });
const shards = (...codecs: CodecConfig[]) =>
  codec("sharding_indexed", { codecs: codecs.map(({ name, configuration }) => ({ name, configuration })) });

it.each<[string, CodecConfig[]]>([
  ["none", []],
  ["none", [codec("transpose", { order: [1, 0] }), codec("bytes"), codec("crc32c")]],
  ["none", [codec("vlen-utf8")]],
  ["none", [shards(codec("bytes"), codec("crc32c"))]],
  ["lz4", [codec("bytes"), codec("lz4")]],
  ["lz4", [codec("bytes"), blosc("lz4hc")]],
  ["lz4", [codec("bytes"), codec("delta"), blosc("snappy")]],
  ["zstd", [codec("bytes"), blosc("zstd")]],
  ["zstd", [shards(codec("bytes"), codec("zstd"))]],
  ["deflate", [codec("bytes"), blosc("zlib")]],
  ["deflate", [codec("bytes"), codec("v1.gzip")]],
  ["other", [codec("bytes"), codec("lzma"), codec("crc32c")]],
  ["other", [codec("bytes"), codec("no-such-codec")]],
])("takes as long as the slowest: %s", (expected, codecs) => {
  expect(slowestOf(codecs.map(costClassOf))).toBe(expected);
});
