import { type CodecDescriptor, describeValue, TYPESCRIPT } from "../../descriptor.ts";

export const sharding = {
  name: "sharding_indexed",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v3: "sharding_indexed" },
  settings: ["chunk_shape", "codecs", "index_codecs", "index_location"],
  nested: "codecs",
  costClass: "none",
  describe: ({ chunk_shape = null }) => describeValue(chunk_shape),
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).loadSharding,
} as const satisfies CodecDescriptor;
