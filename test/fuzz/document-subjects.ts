import { loadCodecs } from "../../src/codecs/chain/codec-chain.ts";
import { chunkSpecOf } from "../../src/codecs/codec.ts";
import type { ZarrFormat } from "../../src/meta/array-metadata.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { ZipStore } from "../../src/stores/zip/zip-store.ts";
import { type ErrorCode, isZarrflowError } from "../../src/util/errors.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import { jsonEqual } from "../../src/util/json-value.ts";
import { writeJson } from "../../src/util/json-write.ts";
import { BytesReader } from "../stores/bytes-reader.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { DIALECTS, documentsOf, texts } from "./documents.ts";
import { Fault, type Seed, type Subject } from "./subject.ts";

const METADATA_CODES: readonly ErrorCode[] = [
  "invalid-metadata",
  "unsupported-format",
  "unsupported-encoding",
  "unsupported-data-type",
  "unsupported-codec",
  "unsupported-extension",
  "resource-limit",
];
const ZIP_CODES: readonly ErrorCode[] = [
  "corrupt-store",
  "path-not-allowed",
  "invalid-node-name",
  "unsupported-operation",
  "resource-limit",
  "short-read",
];

/** What is read besides chunks: JSON, the documents of each format that is known, zip archives. */
export function documentSubjects(): readonly Subject[] {
  return [
    { name: "json", codes: ["invalid-metadata", "resource-limit"], seeds: async () => jsonSeeds() },
    ...DIALECTS.filter((name) => isKnown(name)).map((name) => ({
      name: `documents ${name}`,
      codes: METADATA_CODES,
      seeds: async () => formatSeeds(name),
    })),
    { name: "zip", codes: ZIP_CODES, seeds: async () => zipSeeds() },
  ];
}

function isKnown(name: ZarrFormat): boolean {
  try {
    return formatNamed(name).name === name;
  } catch (error) {
    if (isZarrflowError(error, "unsupported-format")) return false;
    throw error;
  }
}

/** JSON that is taken is written so that it reads the same. */
function jsonSeeds(): Seed[] {
  return texts().map((text) => ({
    frame: new Uint8Array(Buffer.from(text)),
    size: 0,
    decode(source) {
      const value = parseJson(source, { allowNonFinite: () => true });
      const again = parseJson(Buffer.from(writeJson(value, { nonFinite: "token" })), {
        allowNonFinite: () => true,
      });
      if (!jsonEqual(value, again)) throw new Fault("what was written reads as something else");
      return 0;
    },
  }));
}

/** One document of a node changed, the others as they are; of arrays the codecs are made too. */
function formatSeeds(name: ZarrFormat): Seed[] {
  const zarrFormat = formatNamed(name);
  const layout = zarrFormat.layout("");
  return documentsOf(name).flatMap((node) =>
    Object.entries(node).map(([changedKey, text]) => ({
      frame: new Uint8Array(Buffer.from(text)),
      size: 0,
      decode(source) {
        const documents = new Map(
          Object.entries(node).map(([key, other]) => [
            key,
            key === changedKey ? source : new Uint8Array(Buffer.from(other)),
          ]),
        );
        const metadata = zarrFormat.parse(documents, layout)?.metadata;
        if (metadata === undefined) throw new Fault("no node is found where its documents are");
        for (const part of [{}, []]) {
          if (Object.keys(Object.getPrototypeOf(part)).length > 0) throw new Fault("a prototype was changed");
        }
        if (metadata.kind === "group") return 0;
        return loadCodecs(metadata.codecs, chunkSpecOf(metadata)).then(() => 0);
      },
    })),
  );
}

function zipSeeds(): Seed[] {
  const value = new Uint8Array(Buffer.from("a value of a chunk, ".repeat(9)));
  const entries = [
    { name: ".zgroup", value: new Uint8Array(Buffer.from('{"zarr_format": 2}')) },
    { name: "a/0.0", value, method: 8 },
    { name: "a/0.1", value, descriptor: true },
    { name: "a/", comment: "a folder" },
  ];
  const archives = [
    buildZip(entries),
    buildZip(entries, { zip64: true }),
    buildZip(entries, { comment: Buffer.from("comment"), before: Buffer.from("before") }),
    buildZip([]),
  ];
  return archives.map((frame) => ({
    frame,
    size: 0,
    async decode(source) {
      const store = await ZipStore.open(new BytesReader(source), "zip");
      try {
        for await (const { key } of store.list("")) {
          const size = await store.size(key).catch(refusal);
          const found = await store.get(key).catch(refusal);
          if (size !== undefined && found !== undefined && found.length !== size) {
            throw new Fault(`${key} has ${size} bytes, ${found.length} are read`);
          }
        }
      } finally {
        await store.close();
      }
      return 0;
    },
  }));
}

/** A value that cannot be read does not keep others from being read. */
function refusal(error: unknown): undefined {
  if (isZarrflowError(error) && ZIP_CODES.includes(error.code)) return undefined;
  throw error;
}
