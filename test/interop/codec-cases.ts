import type { DataType } from "../../src/meta/data-type.ts";
import { randomNumbers } from "../codecs/support.ts";

/** A codec of numcodecs, and an array to encode. */
export interface CodecCase {
  readonly config: { readonly id: string; readonly [name: string]: unknown };
  /** NumPy's type of the array. */
  readonly dtype: string;
  readonly bytes: Uint8Array;
  /** Whether encoding leaves no choice: we must write the same bytes. */
  readonly isExact?: boolean;
}

const random = randomNumbers(41);
const noise = (length: number) => Uint8Array.from({ length }, () => random(256));
const bytesOf = (numbers: { readonly buffer: ArrayBufferLike }) =>
  new Uint8Array(numbers.buffer as ArrayBuffer);
const wave = (i: number) => Math.round(Math.sin(i / 40) * 1000 + random(4));

/** Numbers as chunks have them, with `dtype`; more than fit a block of 4 KiB. */
const smooth: Readonly<Record<string, Uint8Array>> = {
  "|u1": Uint8Array.from({ length: 5003 }, (_, i) => wave(i)),
  "<i2": bytesOf(Int16Array.from({ length: 4001 }, (_, i) => wave(i))),
  "<i4": bytesOf(Int32Array.from({ length: 2500 }, (_, i) => wave(i) * 1001)),
  "<f4": bytesOf(Float32Array.from({ length: 3333 }, (_, i) => wave(i) / 50)),
  "<f8": bytesOf(Float64Array.from({ length: 1999 }, (_, i) => wave(i) / 50)),
  "<i8": bytesOf(BigInt64Array.from({ length: 1500 }, (_, i) => BigInt(wave(i)) ** 3n)),
  "<c16": bytesOf(Float64Array.from({ length: 1602 }, (_, i) => wave(i))),
  "|V3": Uint8Array.from({ length: 4002 }, (_, i) => (i % 3) * 60 + wave(i / 3)),
  "|V17": Uint8Array.from({ length: 3400 }, (_, i) => (i % 17) * 9 + (i >> 9)),
};
const inputsOfKinds = [
  new Uint8Array(0),
  noise(1),
  noise(4000),
  new Uint8Array(70_000),
  smooth["<f4"] ?? noise(8),
];

/** Every setting of a compressor, each for inputs of several kinds. */
function compressor(id: string, settings: readonly object[]): CodecCase[] {
  // numcodecs cannot read an empty value of these, its own neither.
  const inputs = inputsOfKinds.filter(({ length }) => length > 0 || !["lz4", "zstd"].includes(id));
  return settings.flatMap((setting) =>
    inputs.map((bytes): CodecCase => ({ config: { id, ...setting }, dtype: "|u1", bytes })),
  );
}

const levels = (least: number, most: number) =>
  Array.from({ length: most - least + 1 }, (_, i) => ({ level: least + i }));

const bloscCases = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"].flatMap((cname) =>
  [0, 1, 2, -1].flatMap((shuffle) =>
    [0, 300, 4096].flatMap((blocksize) =>
      Object.entries(smooth).flatMap(([dtype, bytes], i): CodecCase[] => {
        const clevel = [0, 1, 3, 5, 7, 9][(i + blocksize) % 6];
        const config = { id: "blosc", cname, clevel, shuffle, blocksize };
        return [
          { config, dtype, bytes },
          {
            config: { ...config, clevel: 9 },
            dtype,
            bytes: bytes.subarray(0, bytes.length - (bytes.length % 136) - 136),
          },
        ].filter((one) => one.bytes.length % itemSizeOf(dtype) === 0);
      }),
    ),
  ),
);

const integers = ["|i1", "|u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8"];
const deltaCases = integers.flatMap((dtype) =>
  // NumPy sums signed and unsigned integers of 64 bits as floats, and rounds them.
  [undefined, dtype === ">u8" ? ">u8" : "<i8", ">i4", "|i1", "<i2"].map((astype): CodecCase => {
    const config = { id: "delta", dtype, ...(astype && { astype }) };
    // numcodecs refuses a first number that the stored type does not hold; differences wrap.
    const bytes = noise(400).fill(0, 0, itemSizeOf(dtype));
    return { config, dtype, bytes, isExact: true };
  }),
);

const floats = (size: number): Uint8Array => {
  if (size === 2) return bytesOf(Uint16Array.from({ length: 300 }, (_, i) => 0x3c00 + 11 * i));
  const values = Array.from({ length: 300 }, (_, i) => (i - 150) ** 3 / 977);
  return bytesOf(size === 4 ? Float32Array.from(values) : Float64Array.from(values));
};
const caseOf = (config: CodecCase["config"], dtype: string, bytes: Uint8Array): CodecCase => ({
  config,
  dtype,
  bytes,
});
const filterCases: CodecCase[] = [
  ...[2, 4, 8].flatMap((size) =>
    [0, 1, 5, size === 2 ? 9 : 20, { 2: 10, 4: 23, 8: 52 }[size] ?? 0].map((keepbits) =>
      caseOf({ id: "bitround", keepbits }, `<f${size}`, floats(size)),
    ),
  ),
  ...[-2, -1, 0, 1, 3].flatMap((digits) =>
    [
      { dtype: "<f8" },
      { dtype: "<f8", astype: "<f4" },
      { dtype: "<f4" },
      { dtype: "<f4", astype: "<f2" },
    ].map((types) => {
      const bytes = floats(types.dtype === "<f8" ? 8 : 4).slice(400, 1200);
      return caseOf({ id: "quantize", digits, ...types }, types.dtype, bytes);
    }),
  ),
  ...[
    { offset: 0, scale: 1, dtype: "<f8" },
    { offset: -3.25, scale: 10, dtype: "<f8", astype: "<i4" },
    { offset: 100, scale: 0.5, dtype: "<f4", astype: "<i2" },
    { offset: -4000, scale: 100, dtype: ">f8", astype: ">i8" },
    { offset: 1e6, scale: 1, dtype: "<f4", astype: "<f8" },
  ].map((setting) => {
    const bytes = floats(setting.dtype.endsWith("8") ? 8 : 4);
    const swapped = setting.dtype.startsWith(">") ? Buffer.from(bytes).swap64() : bytes;
    return caseOf({ id: "fixedscaleoffset", ...setting }, setting.dtype, swapped);
  }),
  ...["<f8 <f4", "<f4 <f8", "<f8 <i4", "<i4 |u1", "<i4 >f8", "<i8 <i2"].map((types) => {
    const [decode_dtype = "", encode_dtype = ""] = types.split(" ");
    const isFloat = decode_dtype.includes("f");
    const bytes = isFloat ? floats(Number(decode_dtype[2])) : (smooth[decode_dtype] ?? noise(8));
    return caseOf({ id: "astype", decode_dtype, encode_dtype }, decode_dtype, bytes);
  }),
  ...[0, 1, 7, 8, 9, 16, 17, 250].map((length) =>
    caseOf(
      { id: "packbits" },
      "|b1",
      noise(length).map((byte) => byte & 1),
    ),
  ),
  ...[1, 2, 3, 4, 8, 16, 31].map((elementsize) =>
    caseOf({ id: "shuffle", elementsize }, "|u1", noise(elementsize * 77)),
  ),
  ...["crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3", "base64"].flatMap((id) =>
    [2, 4, 46, 1000, 70_000].map((length) => caseOf({ id }, "|u1", noise(length))),
  ),
  ...["crc32", "crc32c", "adler32"].flatMap((id) =>
    ["start", "end"].map((location) => caseOf({ id, location }, "|u1", noise(99))),
  ),
  caseOf({ id: "jenkins_lookup3", initval: 77 }, "|u1", noise(55)),
];

/** Codecs of numcodecs from bytes to bytes, in every setting that makes a difference. */
export const codecCases: readonly CodecCase[] = [
  ...bloscCases,
  ...compressor("zstd", [
    ...levels(-5, 22),
    ...[-3, 0, 1, 2, 3, 4, 9].map((level) => ({ level, checksum: true })),
  ]),
  ...compressor(
    "lz4",
    [-1, 0, 1, 2, 10, 100, 70_000].map((acceleration) => ({ acceleration })),
  ),
  ...compressor("gzip", levels(0, 9)),
  ...compressor("zlib", levels(-1, 9)),
  ...compressor("bz2", levels(1, 9)),
  ...compressor("lzma", [
    ...Array.from({ length: 10 }, (_, preset) => ({ preset })),
    ...[0, 1, 4, 10].map((check) => ({ check })),
    { format: 2 },
    { format: 2, preset: 1 },
    { format: 3, filters: [{ id: 33, preset: 2 }] },
    {
      format: 3,
      filters: [
        { id: 3, dist: 4 },
        { id: 33, preset: 1 },
      ],
    },
  ]),
  ...deltaCases,
  ...filterCases.map((one): CodecCase => ({ ...one, isExact: true })),
];

export function itemSizeOf(dtype: string): number {
  return Number(/\d+$/.exec(dtype)?.[0] ?? 1);
}

/** The type of the items in front of the codec. */
export function dataTypeOf(dtype: string): DataType {
  const size = itemSizeOf(dtype);
  if (dtype.includes("f")) return { kind: "float", size: size as 2 | 4 | 8 };
  return dtype === "|b1" ? { kind: "bool", size: 1 } : { kind: "raw", size };
}
