import { ZarrflowError } from "../util/errors.ts";
import type { JsonObject } from "../util/json-value.ts";
import { nearestName } from "../util/nearest-name.ts";

/** Reads the level of `NAME:LEVEL`; `setting` is its name, `usual` stands where there is none. */
export function levelOption(usual: number, setting = "level"): (parts: readonly string[]) => JsonObject {
  return (parts) => {
    const [level, ...more] = parts;
    assertNoMore(more);
    return { [setting]: level === undefined ? usual : parseLevel(level) };
  };
}

/** @throws `invalid-option` */
export function parseLevel(text: string): number {
  if (!/^-?\d+$/.test(text)) throw invalidCodec(`\`${text}\` is not a whole number`);
  return Number(text);
}

/** @throws `invalid-option` where parts are left. */
export function assertNoMore(parts: readonly string[]): void {
  if (parts.length > 0) throw invalidCodec(`a codec has too many parts: \`${parts.join(":")}\` is not used`);
}

/** @throws `invalid-option` with the nearest of `names` where `text` is none of them. */
export function assertOneOf(text: string, names: readonly string[]): void {
  if (names.includes(text)) return;
  const near = nearestName(text, names);
  throw invalidCodec(
    `\`${text}\` is unknown; expected ${names.join(", ")}`,
    near && `Did you mean \`${near}\`?`,
  );
}

export function invalidCodec(reason: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: hint ?? "Write --codec zstd:5, --codec blosc:lz4:5:shuffle or --codec none.",
  });
}
