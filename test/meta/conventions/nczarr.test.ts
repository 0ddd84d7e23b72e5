import { expect, test } from "vitest";
import type { NodeMetadata } from "../../../src/meta/array-metadata.ts";
import { convertConventions } from "../../../src/meta/conventions/conventions.ts";
import type { Documents } from "../../../src/meta/format.ts";
import { FORMAT_DEFAULTS, formatNamed } from "../../../src/meta/formats.ts";
import { named } from "../helpers.ts";

const encode = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));
const array = {
  zarr_format: 2,
  shape: [4],
  chunks: [4],
  dtype: "<i2",
  order: "C",
  filters: null,
  compressor: null,
  fill_value: -9,
};

function parsed(format: "v2" | "v3", documents: Documents): NodeMetadata {
  const zarrFormat = formatNamed(format);
  const node = zarrFormat.parse(documents, zarrFormat.layout(""));
  if (node === undefined) throw new Error("no node");
  return node.metadata;
}

/** What is written, and read again, of a node in another format. */
function through(metadata: NodeMetadata, from: "v2" | "v3", to: "v2" | "v3") {
  const { nodes, notes } = convertConventions([{ path: "", metadata }], { from, to });
  const zarrFormat = formatNamed(to);
  const now = nodes[0]?.metadata ?? metadata;
  const keyed = now.kind === "array" ? { ...now, chunkKeyEncoding: FORMAT_DEFAULTS[to].keys } : now;
  return { metadata: parsed(to, zarrFormat.write(keyed, zarrFormat.layout(""))), notes };
}

test.each(["_NCZARR_ARRAY", "_nczarr_array"])(
  "%s of a v2 array becomes an attribute and names dimensions",
  (name) => {
    const own = { dimrefs: ["/group/time"], storage: "chunked" };
    const before = parsed("v2", new Map([[".zarray", encode({ ...array, [name]: own })]]));
    const there = through(before, "v2", "v3");
    expect(there.metadata).toMatchObject({ attributes: { [name]: own }, dimensionNames: ["time"] });
    expect(there.metadata.attributes._FillValue).toBe(-9);
    expect(there.notes).toEqual([{ path: "", message: expect.stringContaining(name) }]);
    const back = through(there.metadata, "v3", "v2").metadata;
    expect(back).toMatchObject({ dimensionNames: ["time"], fillValue: { bytes: Uint8Array.of(0xf7, 0xff) } });
    const where = name === "_NCZARR_ARRAY" ? back.extra?.json : back.attributes;
    expect(where).toEqual({ [name]: own });
  },
);

test("what a group has of NCZarr goes among its attributes, and into its document again", () => {
  const own = { _NCZARR_GROUP: { dims: { time: 4 } }, _NCZARR_SUPERBLOCK: { version: "2.0.0" } };
  const before = parsed("v2", new Map([[".zgroup", encode({ zarr_format: 2, ...own })]]));
  const there = through(before, "v2", "v3").metadata;
  expect(there.attributes).toEqual(own);
  expect(through(there, "v3", "v2").metadata).toEqual(before);
});

test("attributes of NCZarr stay attributes", () => {
  const attributes = { _nczarr_attr: { types: { units: "<U1" } }, _ARRAY_DIMENSIONS: ["time"] };
  const documents = new Map([
    [".zarray", encode({ ...array, fill_value: null })],
    [".zattrs", encode(attributes)],
  ]);
  const { metadata, notes } = through(parsed("v2", documents), "v2", "v3");
  expect(metadata.attributes).toEqual({ _nczarr_attr: attributes._nczarr_attr });
  expect(notes).toEqual([]);
});

const shuffled = { ...array, dtype: "<f8", compressor: { id: "zlib", level: 4 } };
const attributesOfNcZarr = { _nczarr_array: { dimension_references: ["/x"], storage: "chunked" } };

/** A v2 array with these filters, and names of NCZarr if `isOfNcZarr`. */
function shuffledV2(filters: readonly object[], isOfNcZarr = true) {
  const zarrFormat = formatNamed("v2");
  const documents = new Map([[".zarray", encode({ ...shuffled, filters })]]);
  if (isOfNcZarr) documents.set(".zattrs", encode(attributesOfNcZarr));
  const node = zarrFormat.parse(documents, zarrFormat.layout(""));
  if (node?.metadata.kind !== "array") throw new Error("no array");
  const written = zarrFormat.write(node.metadata, zarrFormat.layout("")).get(".zarray");
  return { ...node, metadata: node.metadata, written: JSON.parse(new TextDecoder().decode(written)) };
}

test.each([{ elementsize: 0 }, { elementsize: "0" }, {}])(
  "netCDF-C shuffles by the item size where it states %j, and the size is written",
  (stated) => {
    const { metadata, written, findings } = shuffledV2([{ id: "shuffle", ...stated }]);
    expect(metadata.codecs[1]).toMatchObject(named("shuffle", { elementsize: 8 }));
    expect(written.filters).toEqual([{ id: "shuffle", elementsize: 8 }]);
    expect(findings.filter(({ kind }) => kind === "values")).toEqual([]);
  },
);

test("numbers that netCDF-C wrote as text are read, and written as numbers", () => {
  const filters = [
    { id: "shuffle", elementsize: "4" },
    { id: "bz2", level: "3" },
    { id: "blosc", clevel: "5", blocksize: "0", cname: "lz4", shuffle: "1" },
  ];
  const { metadata, written } = shuffledV2(filters);
  expect(metadata.codecs.slice(1).map(({ configuration }) => configuration)).toEqual([
    { elementsize: 4 },
    { level: 3 },
    { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 },
    { level: 4 },
  ]);
  expect(written.filters).toEqual([
    { id: "shuffle", elementsize: 4 },
    { id: "bz2", level: 3 },
    { id: "blosc", clevel: 5, blocksize: 0, cname: "lz4", shuffle: 1 },
  ]);
});

test("elsewhere an item size of 0 stays, with a finding", () => {
  const { metadata, written, findings } = shuffledV2([{ id: "shuffle", elementsize: 0 }], false);
  expect(metadata.codecs[1]?.configuration).toEqual({ elementsize: 0 });
  expect(written.filters).toEqual([{ id: "shuffle", elementsize: 0 }]);
  expect(findings).toEqual([
    { message: expect.stringContaining("netCDF-C"), pointer: "/filters/0/id", kind: "values" },
  ]);
});

test.each(["shuffle", "numcodecs.shuffle"])("%s of NCZarr in v3 shuffles by the item size", (name) => {
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [4],
    data_type: "int16",
    chunk_grid: named("regular", { chunk_shape: [4] }),
    chunk_key_encoding: { name: "default" },
    fill_value: 0,
    codecs: [named("bytes", { endian: "little" }), { name }],
    attributes: attributesOfNcZarr,
  };
  expect(parsed("v3", new Map([["zarr.json", encode(document)]]))).toMatchObject({
    codecs: [{ name: "bytes" }, named("shuffle", { elementsize: 2 })],
  });
});
