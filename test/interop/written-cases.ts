import type { Zarray } from "./write-array.ts";

/** An array to be written by us and read by others. */
export interface WrittenCase {
  readonly name: string;
  readonly zarray: Zarray;
  readonly items: Uint8Array | readonly string[];
  /** Whether a filter rounds, so that readers see what was stored and not what was given. */
  readonly lossy?: boolean;
}

const shape = [7, 10];
const count = 70;
const grid = { shape, chunks: [3, 4], order: "C", filters: null, fill_value: 0, zarr_format: 2 };
const blosc = (cname: string, shuffle: number, clevel = 5) => ({
  id: "blosc",
  cname,
  clevel,
  shuffle,
  blocksize: 0,
});
const lz4 = blosc("lz4", 1);
const lzma = (format: number, filters: object[] | null = null) => ({
  id: "lzma",
  format,
  check: -1,
  preset: null,
  filters,
});

/** Items of a type, in C order and little-endian, from a function of their index. */
function bytesOf(itemSize: number, put: (view: DataView, at: number, i: number) => void): Uint8Array {
  const view = new DataView(new ArrayBuffer(count * itemSize));
  for (let i = 0; i < count; i++) put(view, i * itemSize, i);
  return new Uint8Array(view.buffer);
}

const smooth = (i: number) => 280 + Math.round(1000 * Math.sin(i / 9)) / 100;
const ascii = (view: DataView, at: number, text: string) => {
  for (const [k, letter] of [...text].entries()) view.setUint8(at + k, letter.charCodeAt(0));
};

const float4 = bytesOf(4, (view, at, i) => view.setFloat32(at, smooth(i), true));
const float8 = bytesOf(8, (view, at, i) => view.setFloat64(at, smooth(i), true));
const int2 = bytesOf(2, (view, at, i) => view.setInt16(at, 37 * i - 900, true));
const int4 = bytesOf(4, (view, at, i) => view.setInt32(at, i * i * 12_345 - 9e6, true));
const int8 = bytesOf(8, (view, at, i) => view.setBigInt64(at, BigInt(i) ** 9n - 2n ** 60n, true));
const bools = bytesOf(1, (view, at, i) => view.setUint8(at, i % 3 === 0 ? 1 : 0));

const halves = bytesOf(2, (view, at, i) => view.setUint16(at, 0x3c00 + 17 * i, true));
const times = bytesOf(8, (view, at, i) =>
  view.setBigInt64(at, i === 5 ? -(2n ** 63n) : BigInt(i) * 3600n, true),
);
const names = bytesOf(5, (view, at, i) => ascii(view, at, `n${i}`));
const wide = bytesOf(16, (view, at, i) => {
  for (const [k, point] of [0xe9, 0x4e2d, 0x1f600 + i].entries()) view.setUint32(at + 4 * k, point, true);
});
const records = bytesOf(15, (view, at, i) => {
  view.setInt32(at, -i, true);
  view.setFloat64(at + 4, smooth(i), true);
  ascii(view, at + 12, `r${i}`);
});

const types: readonly (readonly [dtype: unknown, items: Uint8Array, fill?: unknown])[] = [
  ["|b1", bools, false],
  ["|i1", bytesOf(1, (view, at, i) => view.setInt8(at, i - 35))],
  ["|u1", bytesOf(1, (view, at, i) => view.setUint8(at, 3 * i))],
  ["<i2", int2],
  [">i2", int2],
  ["<u2", int2],
  ["<i4", int4],
  [">i4", int4],
  [">u4", int4],
  ["<i8", int8],
  [">i8", int8],
  ["<u8", int8],
  ["<f2", halves],
  [">f2", halves],
  ["<f4", float4, "NaN"],
  [">f4", float4, "-Infinity"],
  ["<f8", float8, "NaN"],
  [">f8", float8, 0.1],
  ["<c8", float8.slice(0, count * 8), [1, -1]],
  [">c16", new Uint8Array([...float8, ...float8]), [0, 0]],
  ["<M8[s]", times],
  [">M8[ns]", times],
  ["<m8[ms]", times],
  ["|S5", names, ""],
  ["<U4", wide, ""],
  [">U4", wide, ""],
  ["|V5", names, ""],
  [
    [
      ["a", "<i4"],
      ["b", ">f8"],
      ["c", "|S3"],
    ],
    records,
    null,
  ],
];

const compressors = {
  none: null,
  zlib: { id: "zlib", level: 6 },
  gzip: { id: "gzip", level: 5 },
  zstd: { id: "zstd", level: 3 },
  "zstd-checksum": { id: "zstd", level: 1, checksum: true },
  lz4: { id: "lz4", acceleration: 1 },
  bz2: { id: "bz2", level: 9 },
  lzma: lzma(1),
  "lzma-sha256": { ...lzma(1), check: 10, preset: 9 },
  "lzma-alone": lzma(2),
  "lzma-raw": lzma(3, [{ id: 33, preset: 1 }]),
  "lzma-raw-delta": lzma(3, [{ id: 3, dist: 4 }, { id: 33 }]),
  "blosc-blosclz": blosc("blosclz", 1),
  "blosc-lz4": lz4,
  "blosc-lz4-stored": blosc("lz4", 0, 0),
  "blosc-lz4-bits": blosc("lz4", 2),
  "blosc-lz4hc": blosc("lz4hc", 1, 9),
  "blosc-zlib": blosc("zlib", 1),
  "blosc-zstd": blosc("zstd", 1),
  "blosc-zstd-bits": blosc("zstd", 2),
};

const filters: readonly (readonly [
  name: string,
  dtype: string,
  items: Uint8Array,
  filters: object[],
  lossy?: true,
])[] = [
  ["delta", "<i4", int4, [{ id: "delta", dtype: "<i4" }]],
  ["delta-big", ">i2", int2, [{ id: "delta", dtype: ">i2" }]],
  ["shuffle", "<f8", float8, [{ id: "shuffle", elementsize: 8 }]],
  ["packbits", "|b1", bools, [{ id: "packbits" }]],
  ["astype", "<f8", float8, [{ id: "astype", encode_dtype: "<f4", decode_dtype: "<f8" }], true],
  ["quantize", "<f4", float4, [{ id: "quantize", digits: 1, dtype: "<f4" }], true],
  ["bitround", "<f4", float4, [{ id: "bitround", keepbits: 7 }], true],
  [
    "fixedscaleoffset",
    "<f8",
    float8,
    [{ id: "fixedscaleoffset", offset: 280, scale: 100, dtype: "<f8", astype: "<i2" }],
    true,
  ],
  ["crc32", "<f4", float4, [{ id: "crc32" }]],
  ["crc32c", "<f4", float4, [{ id: "crc32c" }]],
  ["adler32", "<f4", float4, [{ id: "adler32" }]],
  ["fletcher32", "<f4", float4, [{ id: "fletcher32" }]],
];

const words = Array.from({ length: count }, (_, i) =>
  i % 4 === 0 ? "" : `wörter ${"日".repeat(i % 5)} ${i}`,
);
const zeros = new Uint8Array(count * 4);
zeros.set(int4.subarray(0, 40));

function typeName(dtype: unknown): string {
  return typeof dtype === "string"
    ? dtype
        .replace("<", "le-")
        .replace(">", "be-")
        .replace(/[^\w-]/g, "")
    : "struct";
}

/** Types by orders, compressors by orders, filters, and what else a reader may stumble over. */
export const writtenCases: readonly WrittenCase[] = [
  ...["C", "F"].flatMap((order) =>
    types.map(([dtype, items, fill_value = 0]) => ({
      name: `type-${typeName(dtype)}-${order}`,
      zarray: { ...grid, dtype, order, fill_value, compressor: lz4 },
      items,
    })),
  ),
  ...["C", "F"].flatMap((order) =>
    Object.entries(compressors).map(([name, compressor]) => ({
      name: `compressor-${name}-${order}`,
      zarray: { ...grid, dtype: "<f4", order, compressor },
      items: float4,
    })),
  ),
  ...filters.map(([name, dtype, items, list, lossy = false]) => ({
    name: `filter-${name}`,
    zarray: { ...grid, dtype, filters: list, compressor: compressors.zlib },
    items,
    lossy,
  })),
  {
    name: "filters-two",
    zarray: {
      ...grid,
      dtype: "<i4",
      filters: [
        { id: "delta", dtype: "<i4" },
        { id: "shuffle", elementsize: 4 },
      ],
      compressor: compressors.zstd,
    },
    items: int4,
  },
  {
    name: "texts",
    zarray: { ...grid, dtype: "|O", fill_value: "", filters: [{ id: "vlen-utf8" }], compressor: lz4 },
    items: words,
  },
  {
    name: "nested-keys",
    zarray: { ...grid, dtype: "<f4", dimension_separator: "/", compressor: lz4 },
    items: float4,
  },
  {
    name: "chunks-left-out",
    zarray: { ...grid, dtype: "<i4", compressor: lz4 },
    items: zeros,
  },
  {
    name: "scalar",
    zarray: { ...grid, shape: [], chunks: [], dtype: "<f8", compressor: lz4 },
    items: float8.slice(0, 8),
  },
];
