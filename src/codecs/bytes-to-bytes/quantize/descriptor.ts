import { type CodecDescriptor, FLOATS, TYPESCRIPT } from "../../descriptor.ts";

export const quantize = {
  name: "quantize",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "quantize", v3: "numcodecs.quantize" },
  itemFilter: { encodes: FLOATS, input: "dtype" },
  parts: [
    { setting: "digits", is: "number", isNeeded: true },
    { setting: "astype", is: "type" },
  ],
  allowed: { digits: [-300, 300] },
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createQuantize,
} as const satisfies CodecDescriptor;
