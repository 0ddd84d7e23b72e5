import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const quantize = {
  name: "quantize",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "quantize", v3: "numcodecs.quantize" },
  itemFilter: { input: "dtype" },
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createQuantize,
} as const satisfies CodecDescriptor;
