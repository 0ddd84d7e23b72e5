import { type JsonObject, pointerTo } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import type { GroupMetadata, NodeMetadata } from "../array-metadata.ts";
import { assertString, member, refusal, required } from "../assert-json.ts";
import { attributesOf, inDocument, keptNames, Losses, noteNonFinite, parseDocument } from "../documents.ts";
import type {
  DocumentLimits,
  Documents,
  Finding,
  FormatDefinition,
  NodeLayout,
  ParsedNode,
  WriteOptions,
} from "../format.ts";
import { withoutShards } from "../shards.ts";
import { inMemoryOrder } from "../v2/codecs.ts";
import { parseDraftArray, writeDraftArray } from "./array.ts";
import { DRAFT_2019, DRAFT_2020, type DraftForm, PROTOCOL, parseDraftExtensions } from "./form.ts";
import { BOOTSTRAP_KEY, layoutDraft } from "./layout.ts";

/**
 * The editor's draft of v3 of June 2019: each node has one document, and `zarr.json` describes the whole hierarchy.
 */
export const v3Draft2019 = draftFormat(DRAFT_2019);

/** The later draft of v3 that zarrita and zarr-python 2.11-2.18 wrote. */
export const v3Draft2020 = draftFormat(DRAFT_2020);

function draftFormat(form: DraftForm): FormatDefinition {
  return {
    name: form.name,
    layout: (path) => layoutDraft(form, path),
    parse: (documents, layout, limits) => parseNode(documents, layout, form, limits),
    write: (metadata, layout, options) => writeNode(metadata, layout, form, options),
    adopt: (metadata) => inMemoryOrder(withoutShards(metadata)),
    writeShared: () => new Map([[BOOTSTRAP_KEY, toBytes(writeBootstrap(form))]]),
  };
}

function parseNode(
  documents: Documents,
  layout: NodeLayout,
  form: DraftForm,
  limits?: DocumentLimits,
): ParsedNode | undefined {
  const findings: Finding[] = [];
  const read = <T>(key: string, parse: (document: JsonObject) => T): T | undefined => {
    const bytes = documents.get(key);
    if (bytes === undefined) return undefined;
    return inDocument(layout, key, () =>
      parse(
        parseDocument(bytes, findings, ([name]) => key !== BOOTSTRAP_KEY && name === "attributes", limits),
      ),
    );
  };
  read(BOOTSTRAP_KEY, (document) => parseBootstrap(document, form, findings));
  const [arrayKey = "", groupKey = ""] = layout.documentKeys;
  const array = read(arrayKey, (document) => parseDraftArray(document, form, findings));
  if (array !== undefined && documents.has(groupKey)) {
    findings.push({ message: "both an array and a group exist; the array is used" });
  }
  const metadata = array ?? read(groupKey, (document) => parseGroup(document, form, findings));
  return metadata && { metadata, findings };
}

function parseGroup(
  document: JsonObject,
  { name, plainGroups }: DraftForm,
  findings: Finding[],
): GroupMetadata {
  const extensions = parseDraftExtensions(document, findings);
  for (const required of plainGroups ? ["attributes"] : ["extensions", "attributes"]) {
    if (Object.hasOwn(document, required)) continue;
    const pointer = pointerTo("", required);
    findings.push({ message: `\`${required}\` is required, but missing; an empty value is used`, pointer });
  }
  return {
    kind: "group",
    attributes: attributesOf(document),
    ...(extensions.length > 0 && { extra: { zarrFormat: name, json: { extensions } } }),
  };
}

function writeNode(
  metadata: NodeMetadata,
  layout: NodeLayout,
  form: DraftForm,
  options: WriteOptions = {},
): Map<string, Uint8Array> {
  const losses = new Losses(options.allowLoss);
  noteNonFinite(metadata.attributes, "/attributes", losses);
  const [arrayKey = "", groupKey = ""] = layout.documentKeys;
  const [key, document] =
    metadata.kind === "array"
      ? [arrayKey, writeDraftArray(metadata, form, losses)]
      : [groupKey, writeGroup(metadata, form, losses)];
  losses.check(form.name, layout.path);
  return new Map([[key, toBytes(document)]]);
}

function writeGroup({ attributes, extra }: GroupMetadata, { name }: DraftForm, losses: Losses): JsonObject {
  const { extensions = [] } = keptNames(extra, name, losses);
  return { extensions, attributes };
}

/** Writes JSON with four spaces, ASCII, and names in the order of the specification. */
function toBytes(document: JsonObject): Uint8Array {
  return new TextEncoder().encode(writeJson(document, { indent: 4, ascii: true, nonFinite: "null" }));
}

const SUFFIX = "metadata_key_suffix";

/**
 * Checks the bootstrap document of a hierarchy; ignores unknown members.
 *
 * @throws `invalid-metadata`, `unsupported-format`, `unsupported-encoding`, `unsupported-extension`.
 */
export function parseBootstrap(document: JsonObject, form: DraftForm, findings: Finding[]): void {
  const format = assertString(required(document, "zarr_format"), "/zarr_format");
  if (!URI.test(format)) {
    throw refusal(
      "unsupported-format",
      "/zarr_format",
      "not the URI of version 3.x of the core protocol",
      format,
    );
  }
  const suffix = member(document, SUFFIX) ?? "";
  if (suffix !== form.suffix) {
    throw refusal(
      "unsupported-format",
      `/${SUFFIX}`,
      `documents in ${form.name} have another suffix`,
      suffix,
    );
  }
  const encoding = assertString(required(document, "metadata_encoding"), "/metadata_encoding");
  if (!form.encodings.includes(encoding)) {
    throw refusal("unsupported-encoding", "/metadata_encoding", "only JSON documents can be read", encoding);
  }
  parseDraftExtensions(document, findings);
}

/** The bootstrap document of a new hierarchy. */
export function writeBootstrap({ encodings: [encoding = ""], bootstrap }: DraftForm): JsonObject {
  return { zarr_format: PROTOCOL, metadata_encoding: encoding, ...bootstrap, extensions: [] };
}

export const URI = /^https?:\/\/purl\.org\/zarr\/spec\/protocol\/core\/3(?:\.[0-9]+)?$/;
