import type { CodecDescriptor } from "../descriptor.ts";

/** Documents that name this codec are rejected when they are read. */
export const pickle = {
  name: "pickle",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v2: "pickle" },
  costClass: "other",
  refused: "reading a pickle can run any code",
} as const satisfies CodecDescriptor;

export const pcodec = {
  name: "pcodec",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "pcodec", v3: "numcodecs.pcodec" },
  costClass: "other",
  refused: "Pco has no implementation in JavaScript; convert the array with zarr-python",
} as const satisfies CodecDescriptor;

export const zfpy = {
  name: "zfpy",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "zfpy", v3: "numcodecs.zfpy" },
  costClass: "other",
  refused: "ZFP has no implementation in JavaScript; convert the array with zarr-python",
} as const satisfies CodecDescriptor;
