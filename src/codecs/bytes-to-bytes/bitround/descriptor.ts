import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const bitround = {
  name: "bitround",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "bitround", v3: "numcodecs.bitround" },
  itemFilter: {},
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createBitround,
} as const satisfies CodecDescriptor;
