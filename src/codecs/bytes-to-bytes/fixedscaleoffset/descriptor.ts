import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const fixedscaleoffset = {
  name: "fixedscaleoffset",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "fixedscaleoffset", v3: "numcodecs.fixedscaleoffset" },
  itemFilter: { input: "dtype" },
  costClass: "other",
  engines: TYPESCRIPT,
} as const satisfies CodecDescriptor;
