import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const base64 = {
  name: "base64",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "base64" },
  parts: [],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createBase64,
} as const satisfies CodecDescriptor;
