import { type CodecDescriptor, KERNEL } from "../../descriptor.ts";

export const shuffle = {
  name: "shuffle",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "shuffle", v3: "numcodecs.shuffle" },
  parts: [{ setting: "elementsize", is: "number" }],
  itemSize: "elementsize",
  allowed: { elementsize: [1, 2 ** 31 - 1] },
  costClass: "none",
  engines: KERNEL,
  load: async () => (await import("./codec.ts")).createShuffle,
} as const satisfies CodecDescriptor;
