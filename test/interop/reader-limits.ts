export type Reader = "zarr-python" | "tensorstore" | "zarrita";

/** What a reader found: the digest of items or, of strings and objects, themselves; or why there is neither. */
export interface ReadOutcome {
  readonly sha256?: string;
  readonly values?: readonly unknown[];
  readonly error?: string;
}

/** What a reader cannot read of any store, on disk or not. */
interface Limit {
  /** In a few words. */
  readonly what: string;
  /** The message of its error. */
  readonly error?: RegExp;
  /** Or the arrays that it reads otherwise. */
  readonly id?: RegExp;
}

const LIMITS: Readonly<Record<Reader, readonly Limit[]>> = {
  "zarr-python": [
    {
      what: "structures but the flat ones of v2, objects but strings, r8, ZEP 7's types, objects as data types",
      error: /No Zarr data type found|Invalid data_type|Expected a string/,
    },
    { what: "short names of chunk grids and codecs", error: /Expected dict|At least one ArrayBytesCodec/ },
    { what: "cast_value, scale_offset", error: /UnknownCodecError/ },
    { what: "snappy in blosc", error: /error during blosc decompression/ },
    { what: "xz with filters", error: /Cannot specify filters except with FORMAT_RAW/ },
    { what: "numcodecs.quantize to another type in v3", error: /cannot reshape/, id: /quantize-f8-f4/ },
    { what: "a NaN of 16 bits with a payload as fill value", id: /float16-hex-payload/ },
  ],
  tensorstore: [
    {
      what: "data types but numbers, S and V of v2, structures of v3",
      error:
        /Unsupported zarr dtype|data type is not one of|must be a string\.|Field 'data_type'|Must specify a \\?"field|member \\?"(?:data_type|dtype)\\?"|member "fill_value"/,
    },
    {
      what: "codecs but blosc, bzip2, crc32c, gzip, zlib, zstd; of v2 also filters, zstd with more than a level",
      error:
        /is not registered|filters are not supported|extra members|member "(?:filters|compressor|codecs)"/,
    },
    { what: "short names of chunk key encodings", error: /chunk_key_encoding/ },
    { what: "codecs around sharding", error: /apply to the entire shard/ },
    { what: "several members or frames in a chunk", error: /Not enough data/ },
    { what: "bare NaN in documents", error: /Invalid JSON/ },
    { what: "equal names of dimensions", error: /not unique/ },
    {
      what: "raw bytes: no NumPy type holds what it reads",
      id: /[-/][rVv]\d|raw_bytes|-[VS]\d|dtype-s5|\/s7$|r16-fill/,
    },
  ],
  zarrita: [
    {
      what: "data types but numbers of at least 32 bits, text of one length of v2 and strings",
      error: /is not a function|Unknown or unsupported dataType|Unsupported or unknown dtype/,
    },
    { what: "codecs but those of v3, zlib and lz4", error: /Unknown codec|Cannot encode string to bytes/ },
    { what: "the index at the start of shards", error: /Range Not Satisfiable/ },
    { what: "arrays without items", error: /empty iterator/ },
    { what: "bare NaN in documents", error: /Failed to decode JSON/ },
    { what: "short names of chunk key encodings", error: /Unknown chunk key encoding/ },
    {
      what: "fill values over 2^53, in hex, of text",
      id: /fill[-/](?:[iu]8|u?int64|float|[SU]\d|u8max|s12)|(?:utf32|bytes)-partial/,
    },
    { what: "delta to other types, delta after fixedscaleoffset", id: /delta/ },
    { what: "several transpositions", id: /transpose-(?:twice|outer)/ },
    { what: "json2 of several dimensions, of numbers", id: /json2-(?:2d|numeric)/ },
    { what: "byte order marks in strings", id: /^zep7-(?:large-)?string/ },
  ],
};

/** What of a reader is the reason for an outcome that is not as it should be; undefined where none is known. */
export function limitOf(reader: Reader, arrayId: string, { error }: ReadOutcome): string | undefined {
  return LIMITS[reader].find((limit) =>
    error === undefined
      ? limit.error === undefined && limit.id?.test(arrayId)
      : limit.error?.test(error) && (limit.id?.test(arrayId) ?? true),
  )?.what;
}

/** What keeps zarr-python from finding an array by the consolidated metadata of the group that it is in. */
const GROUP_LIMITS: readonly Limit[] = [
  { what: "groups with consolidated metadata and no .zgroup", id: /no-root-zgroup|consolidated-only/ },
  { what: "arrays that stale metadata lack", id: /consolidated-stale\/late/ },
  { what: "members of groups that it does not know", id: /group-extension/ },
  { what: "names with #, which fsspec takes for the end of the path", id: /names\/plus/ },
  { what: "folders of hierarchies, which are no group", id: /zip\/subfolder/ },
];

export function groupLimitOf(arrayId: string): string | undefined {
  return GROUP_LIMITS.find(({ id }) => id?.test(arrayId))?.what;
}
