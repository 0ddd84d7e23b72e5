import type { JsonObject } from "../../util/json-value.ts";
import { assertString, member, refusal, required } from "../assert-json.ts";
import type { Finding } from "../format.ts";
import { SUFFIX } from "./draft-of.ts";
import { type DraftForm, PROTOCOL, parseDraftExtensions } from "./form.ts";

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
