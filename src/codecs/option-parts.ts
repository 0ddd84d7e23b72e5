import { ZarrflowError } from "../util/errors.ts";
import { type JsonObject, type JsonValue, toPlain } from "../util/json-value.ts";
import { nearestName } from "../util/names.ts";

/** Returns a parser for the level in `NAME:LEVEL`; `setting` is the setting it sets, `usual` its default. */
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

/** The setting given by a part of `NAME:PART:...`. */
export interface SettingPart {
  readonly setting: string;
  /** `numbers` takes all remaining parts. */
  readonly is: "number" | "numbers" | "word" | "type";
  readonly isNeeded?: boolean;
}

/**
 * Parses the parts after the name of a codec; parts that are left out set nothing.
 *
 * @throws `invalid-option`
 */
export function codecSettings(parts: readonly string[], meant: readonly SettingPart[]): JsonObject {
  const stated: Record<string, JsonValue> = {};
  for (const [i, { setting, is }] of meant.entries()) {
    const text = parts[i];
    if (text === undefined) break;
    if (is === "numbers")
      return { ...stated, [setting]: parts.slice(i).map((part) => numberIn(part, setting)) };
    stated[setting] = is === "number" ? numberIn(text, setting) : text;
  }
  assertNoMore(parts.slice(meant.length));
  return stated;
}

function numberIn(text: string, setting: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number)) return number;
  throw invalidCodec(`the ${setting} \`${text}\` is not a number`);
}

/**
 * Checks that a codec has all of its required settings.
 *
 * @throws `invalid-option`
 */
export function assertNeeded(codec: string, configuration: JsonObject, meant: readonly SettingPart[]): void {
  const missing = meant.find(
    ({ setting, isNeeded }) => isNeeded && (configuration[setting] ?? null) === null,
  );
  if (missing === undefined) return;
  const needed = meant.filter(({ isNeeded }) => isNeeded);
  const form = [codec, ...needed.map(({ setting }) => setting.toUpperCase())].join(":");
  throw invalidCodec(`${codec} needs a ${missing.setting}`, `Write ${form}.`);
}

/** Values that a user may give to a setting: a range of whole numbers, or a list of words. */
export type SettingValues = readonly [least: number, most: number] | readonly string[];

/**
 * Checks the settings of a codec that a user selects.
 *
 * @throws `invalid-option` with what is allowed and what was found.
 */
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

/** @throws `invalid-option` if parts are left. */
export function assertNoMore(parts: readonly string[]): void {
  if (parts.length > 0) throw invalidCodec(`a codec has too many parts: \`${parts.join(":")}\` is left over`);
}

/** @throws `invalid-option` with the nearest of `names` if `text` is none of them. */
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
    hint:
      hint ??
      "Write --codec zstd:5, --codec blosc:lz4:5:shuffle, --codec bitround:10,zstd:5 or --codec none.",
  });
}
