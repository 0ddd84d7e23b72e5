import { ZarrflowError } from "../util/errors.ts";
import { toPlain } from "../util/json-plain.ts";
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
  if (!/^-?\d+$/.test(text)) throw invalidCodec(`the level \`${text}\` is not a whole number`);
  return Number(text);
}

/** Values that a setting can have when a codec is asked for: whole numbers from one to another, or words. */
export type SettingValues = readonly [least: number, most: number] | readonly string[];

/** Checks the settings of a codec that is asked for. @throws `invalid-option` with what is allowed, and what was found */
export function assertSettings(
  codec: string,
  configuration: JsonObject,
  values: Readonly<Record<string, SettingValues>>,
): void {
  for (const [setting, allowed] of Object.entries(values)) {
    const value = toPlain(configuration[setting] ?? null);
    const [least, most] = allowed;
    if (value === null) continue;
    if (typeof least === "string") {
      if (typeof value !== "string") continue;
      assertOneOf(value, allowed as readonly string[], `${codec} has no ${setting}`);
    } else if (!Number.isSafeInteger(value) || Number(value) < least || Number(value) > Number(most)) {
      throw new ZarrflowError("invalid-option", `the ${setting} of ${codec} is out of range`, {
        setting,
        expected: `${least} to ${most}`,
        found: JSON.stringify(value),
      });
    }
  }
}

/** @throws `invalid-option` where parts are left. */
export function assertNoMore(parts: readonly string[]): void {
  if (parts.length > 0) throw invalidCodec(`a codec has too many parts: \`${parts.join(":")}\` is not used`);
}

/** @throws `invalid-option` with the nearest of `names` where `text` is none of them. */
export function assertOneOf(text: string, names: readonly string[], what = "there is no codec"): void {
  if (names.includes(text)) return;
  const near = nearestName(text, names);
  throw invalidCodec(
    `${what} \`${text}\`; expected ${names.join(", ")}`,
    near && `Did you mean \`${near}\`?`,
  );
}

export function invalidCodec(reason: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: hint ?? "Write --codec zstd:5, --codec blosc:lz4:5:shuffle or --codec none.",
  });
}
