import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const categorize = {
  name: "categorize",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "categorize" },
  objects: "string",
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createCategorize,
} as const satisfies CodecDescriptor;
