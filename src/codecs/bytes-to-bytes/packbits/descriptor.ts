import { BOOLEANS, type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const packbits = {
  name: "packbits",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "packbits", v3: "numcodecs.packbits" },
  itemFilter: { encodes: BOOLEANS, output: "|u1" },
  parts: [],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createPackbits,
} as const satisfies CodecDescriptor;
