import { BLOSC_SHUFFLES, INNER_CODECS } from "../../codecs/bytes-to-bytes/blosc/descriptor.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { pointerTo } from "../../util/json-pointer.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { assertInteger, assertWord, invalid, member, required } from "../assert-json.ts";
import { parseExtension } from "../extension.ts";
import type { Finding } from "../format.ts";

const MAX_LEVEL = 9;

/** Reports codec settings that violate v3. They affect encoding only, so chunks can still be read. */
export function noteV3Settings(codec: JsonValue, pointer: string, findings: Finding[]): void {
  try {
    assertV3Config(codec, pointer);
  } catch (error) {
    const at = isZarrflowError(error, "invalid-metadata") ? error.details.pointer : undefined;
    if (!isZarrflowError(error) || !at?.startsWith(`${pointer}/configuration/`)) throw error;
    findings.push({
      message: `${error.reason}: chunks can be read, but not written with this setting`,
      pointer: at,
    });
  }
}

/**
 * Checks a codec's settings against v3, which is stricter than the codecs themselves because other formats share
 * them. v3 has no automatic level or shuffle, and blosc needs the size of the items that it shuffles.
 *
 * @throws `invalid-metadata` at the setting.
 */
export function assertV3Config(codec: JsonValue, pointer: string): void {
  const { name, configuration } = parseExtension(codec, pointer);
  const at = pointerTo(pointer, "configuration");
  if (name === "gzip") assertLevel(configuration, "level", at);
  if (name !== "blosc") return;
  const cname = member(configuration, "cname");
  if (cname !== undefined) assertWord(cname, INNER_CODECS, pointerTo(at, "cname"));
  assertLevel(configuration, "clevel", at);
  const shuffle = member(configuration, "shuffle");
  if (shuffle !== undefined) assertWord(shuffle, BLOSC_SHUFFLES, pointerTo(at, "shuffle"));
  if (shuffle === "noshuffle" && member(configuration, "typesize") === undefined) return;
  assertInteger(required(configuration, "typesize", at), 1, pointerTo(at, "typesize"));
}

/** Checks an optional level from 0 to 9. */
function assertLevel(configuration: JsonObject, name: string, at: string): void {
  const level = member(configuration, name);
  if (level === undefined) return;
  const pointer = pointerTo(at, name);
  if (assertInteger(level, 0, pointer) > MAX_LEVEL)
    throw invalid(pointer, `must be at most ${MAX_LEVEL}`, level);
}
