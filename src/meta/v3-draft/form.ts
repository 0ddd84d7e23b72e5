import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import type { ZarrFormat } from "../array-metadata.ts";
import {
  assertList,
  assertObject,
  assertString,
  invalidMetadata,
  memberOr,
  refusal,
  required,
} from "../assert-json.ts";
import type { DataType } from "../data-type.ts";
import type { Finding } from "../format.ts";

/** The differences between the drafts of Zarr v3. */
export interface DraftForm {
  readonly name: ZarrFormat;
  /** Accepted values of `metadata_encoding`; the first is written. */
  readonly encodings: readonly string[];
  /** Members that only this draft's `zarr.json` has. */
  readonly bootstrap: Readonly<Record<string, string>>;
  /** End of the keys of documents. */
  readonly suffix: string;
  /** Prefix of the root's chunks, including the slash. */
  readonly chunks: string;
  /** Precedes the first index in a chunk's key. */
  readonly chunkMark: string;
  /** Default separator of the indices in a chunk's key. */
  readonly separator: "." | "/";
  /** True if the separator is written even if it is the default. */
  readonly statesSeparator: boolean;
  /** True if groups do not need `extensions`. */
  readonly plainGroups: boolean;
  /** URIs of the writers' extension types, by kind of data type. */
  readonly extensionTypes: ReadonlyMap<DataType["kind"], string>;
  codecUri(id: string): string;
}

export const PROTOCOL = "https://purl.org/zarr/spec/protocol/core/3.0";
const SPECS = "https://zarr-specs.readthedocs.io/en";

/** The editor's draft of 19 June 2019. */
export const DRAFT_2019: DraftForm = {
  name: "v3-draft-2019",
  encodings: ["application/json"],
  bootstrap: {},
  suffix: "",
  chunks: "data/",
  chunkMark: "",
  separator: ".",
  statesSeparator: false,
  plainGroups: false,
  extensionTypes: new Map(),
  codecUri: (id) => `http://purl.org/zarr/spec/codec/${id}`,
};

/** The later draft that zarrita (2020-2021) and zarr-python 2.11-2.18 wrote. */
export const DRAFT_2020: DraftForm = {
  name: "v3-draft-2020",
  encodings: [PROTOCOL, "application/json"],
  bootstrap: { metadata_key_suffix: ".json" },
  suffix: ".json",
  chunks: "data/root/",
  chunkMark: "c",
  separator: "/",
  statesSeparator: true,
  plainGroups: true,
  extensionTypes: new Map([
    ["complex", `${SPECS}/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html`],
    ["datetime", `${SPECS}/latest/extensions/data-types/datetime/v1.0.html`],
    ["timedelta", `${SPECS}/latest/extensions/data-types/datetime/v1.0.html`],
  ]),
  codecUri: (id) => `https://purl.org/zarr/spec/codec/${id}/1.0`,
};

/** URIs of extensions that the application declares to understand. */
const understood = new Set<string>();

/**
 * Declares that the application understands an extension of the v3 drafts, so that hierarchies, groups and arrays
 * which require it can be opened. The application must implement the extension itself: zarrflow only stops rejecting
 * it.
 */
export function understandExtension(uri: string): void {
  understood.add(uri);
}

/**
 * Reads the `extensions` of a document; none if absent.
 *
 * @throws `unsupported-extension` for an unknown one that must be understood, `invalid-metadata`.
 */
export function parseDraftExtensions(document: JsonObject, findings: Finding[]): JsonValue[] {
  const list = assertList(memberOr(document, "extensions", []), "/extensions");
  list.forEach((json, i) => {
    const pointer = pointerTo("/extensions", i);
    const extension = assertObject(json, pointer);
    const uri = assertString(required(extension, "extension", pointer), pointerTo(pointer, "extension"));
    const mustUnderstand = required(extension, "must_understand", pointer);
    if (typeof mustUnderstand !== "boolean") {
      throw invalidMetadata(pointerTo(pointer, "must_understand"), "must be true or false", mustUnderstand);
    }
    if (understood.has(uri)) return;
    if (mustUnderstand) {
      throw refusal(
        "unsupported-extension",
        pointer,
        "an extension marked `must_understand` is not known",
        uri,
      );
    }
    findings.push({ message: `the extension \`${uri}\` is ignored`, pointer });
  });
  return list;
}

/** Returns the error for an extension object at a point where no extension is known. */
export function unknownExtension(object: JsonObject, pointer: string, what: string): Error {
  const uri = assertString(required(object, "extension", pointer), pointerTo(pointer, "extension"));
  required(object, "type", pointer);
  return refusal("unsupported-extension", pointer, `the extension of ${what} is not known`, uri);
}
