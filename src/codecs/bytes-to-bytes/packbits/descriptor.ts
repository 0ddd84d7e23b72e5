import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const packbits = {
  name: "packbits",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "packbits", v3: "numcodecs.packbits" },
  itemFilter: { output: "|u1" },
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createPackbits,
} as const satisfies CodecDescriptor;
