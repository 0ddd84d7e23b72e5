import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const astype = {
  name: "astype",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "astype", v3: "numcodecs.astype" },
  itemFilter: { input: "decode_dtype" },
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createAstype,
} as const satisfies CodecDescriptor;
