import { type CodecDescriptor, KERNEL } from "../../descriptor.ts";

export const delta = {
  name: "delta",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "delta", v3: "numcodecs.delta" },
  itemFilter: { input: "dtype" },
  costClass: "none",
  engines: KERNEL,
  load: async () => (await import("./codec.ts")).loadDelta(),
} as const satisfies CodecDescriptor;
