import { type CodecDescriptor, NUMBERS, TYPESCRIPT } from "../../descriptor.ts";

export const astype = {
  name: "astype",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "astype", v3: "numcodecs.astype" },
  itemFilter: { encodes: NUMBERS, input: "decode_dtype" },
  parts: [{ setting: "encode_dtype", is: "type", isNeeded: true }],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createAstype,
} as const satisfies CodecDescriptor;
