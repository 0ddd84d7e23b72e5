import { type CodecDescriptor, KERNEL, NUMBERS } from "../../descriptor.ts";

export const delta = {
  name: "delta",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "delta", v3: "numcodecs.delta" },
  itemFilter: { encodes: NUMBERS, input: "dtype" },
  parts: [{ setting: "astype", is: "type" }],
  costClass: "none",
  engines: KERNEL,
  load: async () => (await import("./codec.ts")).loadDelta(),
} as const satisfies CodecDescriptor;
