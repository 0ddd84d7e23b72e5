import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../src/codecs/chain/pipeline.ts";
import { chunkSpecOf } from "../../src/codecs/chunk-spec.ts";
import type { NodeMetadata, ZarrFormat } from "../../src/meta/array-metadata.ts";
import { readConsolidatedV2, writeConsolidatedV2 } from "../../src/meta/consolidated.ts";
import { describeDataType } from "../../src/meta/describe.ts";
import type { FormatDefinition } from "../../src/meta/format.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { parseFillV1 } from "../../src/meta/v1/fill-value.ts";
import { parseNumpyType } from "../../src/meta/v2/data-type.ts";
import { parseFillV2 } from "../../src/meta/v2/fill-value.ts";
import { readConsolidatedV3 } from "../../src/meta/v3/consolidated.ts";
import { parseV3DataType, plainV3Type } from "../../src/meta/v3/data-type.ts";
import { parseFillV3 } from "../../src/meta/v3/fill-value.ts";
import { type ErrorCode, isZarrflowError, type ZarrflowError } from "../../src/util/errors.ts";
import { jsonEqual } from "../../src/util/json-equal.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import { toPlain } from "../../src/util/json-plain.ts";
import type { JsonObject, JsonValue } from "../../src/util/json-value.ts";
import { objectOf, rewritten } from "./expected-document.ts";
import { hasShared, shared } from "./shared.ts";

const v1 = formatNamed("v1");
const v2 = formatNamed("v2");
const v3 = formatNamed("v3");

const lenient = { allowNonFinite: () => true };

interface Case {
  readonly id: string;
  readonly path: string;
  readonly store: string;
  readonly array: string | null;
  readonly zarr_format: number;
  readonly tags: readonly string[];
  readonly shape?: readonly number[];
  readonly chunks?: readonly number[];
  readonly dtype?: JsonValue;
  readonly attributes?: JsonObject;
  readonly dimension_names?: readonly (string | null)[];
  readonly error?: string;
  readonly error_stage?: string;
}

function* foldersBelow(folder: string): Generator<string> {
  yield folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* foldersBelow(join(folder, entry.name));
  }
}

/** The documents of the node in `folder`, by key at the root. */
function documentsIn(folder: string, zarrFormat: FormatDefinition): Map<string, Uint8Array> {
  const keys = zarrFormat.layout("").documentKeys.filter((key) => existsSync(join(folder, key)));
  return new Map(keys.map((key) => [key, new Uint8Array(readFileSync(join(folder, key)))]));
}

function errorOf(act: () => unknown): ZarrflowError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (isZarrflowError(error)) return error;
    throw error;
  }
}

describe.runIf(hasShared)("documents of real stores", () => {
  test.each([
    ["corpus/data/v1", v1, 12],
    ["corpus-legacy/v1", v1, 100],
    ["corpus/data/v2", v2, 480],
    ["corpus/data/v3", v3, 330],
    ["corpus-legacy/ogc-v2", v2, 35],
    ["corpus-legacy/zep0007", v3, 55],
    ["data", v2, 5],
    ["data", v3, 5],
  ] as const)("%s: read and written again, they say the same", (root, zarrFormat, least) => {
    const counts = { nodes: 0, documents: 0, sameBytes: 0, refused: [] as string[] };
    const different: string[] = [];
    for (const folder of foldersBelow(join(shared, root))) {
      const documents = documentsIn(folder, zarrFormat);
      const layout = zarrFormat.layout("");
      const name = relative(shared, folder);
      const error = errorOf(() => {
        const node = zarrFormat.parse(documents, layout);
        if (node === undefined) return;
        counts.nodes++;
        // Attributes that JSON cannot hold are left to the reader's test below.
        const written = zarrFormat.write(node.metadata, layout, { allowLoss: ["/attributes"] });
        for (const [key, bytes] of written) {
          if (key === "attrs" && !documents.has(key)) continue; // always written: V1-2
          const before = documents.get(key);
          counts.documents++;
          if (before === undefined) different.push(`${name}/${key}: new`);
          else if (Buffer.compare(before, bytes) === 0) counts.sameBytes++;
          else if (node.findings.some(({ message }) => message.startsWith("a bare NaN")) && key === ".zattrs")
            continue;
          else if (!jsonEqual(rewritten(key, objectOf(before), node.metadata), objectOf(bytes)))
            different.push(`${name}/${key}`);
        }
      });
      if (error) counts.refused.push(`${name}: ${error.code}`);
    }
    console.log(root, zarrFormat.name, { ...counts, refused: counts.refused.length });
    expect(different).toEqual([]);
    expect(counts.nodes).toBeGreaterThan(least);
    const unexpected = counts.refused.filter(
      (one) => !/\/err-|object.zarr\/pickle:|layout.zarr\/rectilinear:/.test(one),
    );
    expect(unexpected).toEqual([]);
  });

  test("shape, chunks, type, attributes and dimension names are those of the manifest", () => {
    const { cases } = JSON.parse(readFileSync(join(shared, "corpus/manifest.json"), "utf8")) as {
      cases: Case[];
    };
    let compared = 0;
    for (const one of cases) {
      const zarrFormat = one.zarr_format === 2 ? v2 : v3;
      const isPlain = one.path.startsWith("data/v2/") || one.path.startsWith("data/v3/");
      if (
        !isPlain ||
        one.store === "zip" ||
        one.array === null ||
        one.error ||
        one.id === "v3/layout/rectilinear"
      )
        continue;
      const node = zarrFormat.parse(
        documentsIn(join(shared, "corpus", one.path, one.array), zarrFormat),
        zarrFormat.layout(""),
      );
      const found = node ?? consolidatedNode(one, zarrFormat);
      const metadata = found?.metadata;
      expect(metadata?.kind, one.id).toBe("array");
      if (metadata?.kind !== "array") continue;
      expect(metadata.shape, one.id).toEqual(one.shape);
      const isSharded = one.tags.includes("sharding") || one.tags.includes("sharding_indexed");
      if (one.chunks && !isSharded) {
        expect(metadata.chunkGrid.chunkShape, one.id).toEqual(one.chunks.map((n) => n || 1));
      }
      if (one.dtype !== undefined && one.dtype !== "|O") {
        const type = one.zarr_format === 2 ? parseNumpyType(one.dtype, "") : parseV3DataType(one.dtype, "");
        expect(describeDataType(metadata.dataType), one.id).toBe(describeDataType(type.dataType));
      }
      if (one.dimension_names) expect(metadata.dimensionNames, one.id).toEqual(one.dimension_names);
      const names = one.zarr_format === 2 && metadata.dimensionNames;
      const attributes = { ...toPlain(metadata.attributes), ...(names && { _ARRAY_DIMENSIONS: names }) };
      if (one.attributes && !one.tags.includes("non-strict-json")) {
        expect(
          JSON.parse(JSON.stringify(attributes, (_, v) => (typeof v === "bigint" ? Number(v) : v))),
          one.id,
        ).toEqual(one.attributes);
      }
      compared++;
    }
    console.log("arrays compared with the manifest:", compared);
    expect(compared).toBeGreaterThan(700);
  });

  /** The node of a store that holds consolidated metadata alone. */
  function consolidatedNode(one: Case, zarrFormat: FormatDefinition) {
    const root = join(shared, "corpus", one.path);
    const documents =
      zarrFormat === v2
        ? readConsolidatedV2(readFileSync(join(root, ".zmetadata")), "")
        : readConsolidatedV3(readFileSync(join(root, "zarr.json")), "");
    return documents && zarrFormat.parse(documents, zarrFormat.layout(one.array ?? ""));
  }

  test("consolidated documents are written as the reference writes them", () => {
    const files = [...foldersBelow(join(shared, "corpus/data/v2"))]
      .map((folder) => join(folder, ".zmetadata"))
      .filter((file) => existsSync(file));
    const same = files.filter((file) => {
      const bytes = readFileSync(file);
      return Buffer.compare(bytes, writeConsolidatedV2(readConsolidatedV2(bytes, ""), "")) === 0;
    });
    const equal = files.filter((file) => {
      const bytes = readFileSync(file);
      return jsonEqual(objectOf(bytes), objectOf(writeConsolidatedV2(readConsolidatedV2(bytes, ""), "")));
    });
    console.log("consolidated:", { files: files.length, same: same.length });
    expect(equal).toEqual(files);
    expect(same.length).toBeGreaterThan(0);
  });

  test("fill values are those of the table", () => {
    const rows = objectOf(
      Buffer.concat([
        Buffer.from('{"rows":'),
        readFileSync(join(shared, "corpus-legacy/vectors/fill-values.json")),
        Buffer.from("}"),
      ]),
    ).rows as JsonObject[];
    let checked = 0;
    for (const row of rows) {
      const formats = row.zarr_formats as string[];
      const json =
        typeof row.json_text === "string"
          ? parseJson(Buffer.from(row.json_text), lenient)
          : (row.json ?? null);
      const name = String(row.dtype);
      for (const format of formats.filter((one) => one === "1" || one === "2" || one === "3")) {
        const type =
          plainV3Type(name) ??
          (format === "3" ? parseV3DataType(name, "") : parseNumpyType(name, "")).dataType;
        const dataType = "dataType" in type ? plainV3Type(name) : type;
        if (dataType === undefined) throw new Error(`no type ${name}`);
        const parseFill = format === "1" ? parseFillV1 : format === "2" ? parseFillV2 : parseFillV3;
        const parse = () => parseFill(json, dataType, "little", "");
        checked++;
        if (row.error) expect(errorOf(parse)?.code, JSON.stringify(row)).toBe(row.error);
        else expect(Buffer.from(parse() ?? []).toString("hex"), JSON.stringify(row)).toBe(row.le_hex);
      }
    }
    expect(checked).toBeGreaterThan(50);
  });
});

const METADATA_CODES: readonly ErrorCode[] = [
  "invalid-metadata",
  "unsupported-format",
  "unsupported-data-type",
  "unsupported-codec",
  "unsupported-extension",
  "resource-limit",
];

describe.runIf(hasShared)("broken metadata", () => {
  /** Legal by our rules, where the corpus leaves it open or other readers differ. */
  const READ = [
    "v2/meta-missing-filters", // V2-10
    "v2/meta-blosc-cname", // V2-55: the options guide writing only
    "v2/meta-shuffle-zero", // what only an encoder needs stops no reader
    "v3/meta-fill-bool-number", // as others write it
    "v3/meta-gzip-level", // V3-43: writing only
    "v3/meta-transpose-C", // V3-42: old values are read
    "v3/meta-codec-unknown-must-understand-false", // passed over, as it allows
  ];

  test.each(["v2", "v3"] as const)("%s: each case gives an error of its category", async (name) => {
    const zarrFormat = formatNamed(name);
    const layout = zarrFormat.layout("");
    const folders = readdirSync(join(shared, "corpus/bad", name)).filter((one) => one.startsWith("meta-"));
    const found = { byMetadata: 0, byCodecs: 0, read: [] as string[] };
    const wrong: string[] = [];
    for (const folder of folders) {
      const id = `${name}/${folder.replace(/\.zarr$/, "")}`;
      const documents = documentsIn(join(shared, "corpus/bad", name, folder), zarrFormat);
      let metadata: NodeMetadata | undefined;
      const error = errorOf(() => {
        metadata = zarrFormat.parse(documents, layout)?.metadata;
      });
      if (error) {
        found.byMetadata++;
        if (!METADATA_CODES.includes(error.code)) wrong.push(`${id}: ${error.code}`);
        if (error.details.key === undefined) wrong.push(`${id}: no key`);
        continue;
      }
      // Which codecs there are, and whether they fit together, is for the pipeline to say.
      const refused = metadata?.kind === "array" ? await pipelineError(metadata) : undefined;
      if (refused === undefined) found.read.push(id);
      else if (METADATA_CODES.includes(refused.code)) found.byCodecs++;
      else wrong.push(`${id}: ${refused.code}`);
    }
    console.log("broken metadata", name, folders.length, found);
    expect(wrong).toEqual([]);
    expect(found.read.filter((id) => !READ.includes(id))).toEqual([]);
    expect(found.byMetadata).toBeGreaterThan(35);
  });

  async function pipelineError(
    metadata: Extract<NodeMetadata, { kind: "array" }>,
  ): Promise<ZarrflowError | undefined> {
    try {
      await createPipeline(metadata.codecs, chunkSpecOf(metadata));
      return undefined;
    } catch (error) {
      if (isZarrflowError(error)) return error;
      throw error;
    }
  }
});

describe.runIf(hasShared)("errors of the legacy fixtures", () => {
  interface Entry {
    readonly id: string;
    readonly path: string;
    readonly zarr_format: string;
    readonly store: string;
    readonly error?: {
      readonly code: string;
      readonly at: string;
      readonly key?: string;
      readonly pointer?: string;
    };
  }

  test("have the code, key and pointer that is asked for", () => {
    const { entries } = JSON.parse(readFileSync(join(shared, "corpus-legacy/manifest.json"), "utf8")) as {
      entries: Entry[];
    };
    let checked = 0;
    for (const { id, path, zarr_format, store, error } of entries) {
      const isOurs =
        (zarr_format === "1" || zarr_format === "2" || zarr_format === "3") &&
        store === "directory" &&
        error?.at === "open";
      if (
        !isOurs ||
        error.code === "not-found" ||
        (error.code === "unsupported-codec" && zarr_format === "2")
      )
        continue;
      const zarrFormat = formatNamed(`v${zarr_format}` as ZarrFormat);
      const found = errorOf(() =>
        zarrFormat.parse(documentsIn(join(shared, "corpus-legacy", path), zarrFormat), zarrFormat.layout("")),
      );
      expect({ code: found?.code, key: found?.details.key, pointer: found?.details.pointer }, id).toEqual({
        code: error.code,
        key: error.key,
        pointer: error.pointer ?? found?.details.pointer,
      });
      checked++;
    }
    console.log("legacy errors checked:", checked);
    expect(checked).toBeGreaterThan(15);
  });
});
