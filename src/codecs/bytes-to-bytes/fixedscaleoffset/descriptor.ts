import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const fixedscaleoffset = {
  name: "fixedscaleoffset",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "fixedscaleoffset", v3: "numcodecs.fixedscaleoffset" },
  itemFilter: { input: "dtype" },
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createFixedScaleOffset,
} as const satisfies CodecDescriptor;
