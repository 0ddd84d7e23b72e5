import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "../util/json-value.ts";

/**
 * Reads single settings of a codec's configuration. A `fallback` makes a setting optional; `null` counts as absent.
 *
 * Every method throws `invalid-metadata` with the name, what is valid, and what was found.
 */
export class ConfigReader {
  readonly #values: JsonObject;

  readonly #within: string | undefined;

  /** @param within the setting that contains these values, if they are not the codec's own settings */
  constructor(values: JsonObject, within?: string) {
    this.#values = values;
    this.#within = within;
  }

  /** The unconverted value; undefined if it is absent or `null`. */
  value(name: string): JsonValue | undefined {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  integer(name: string, least: number, most: number, fallback?: number): number {
    const number = this.number(name, fallback);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw this.#invalid(name, `must be an integer from ${least} to ${most}`);
  }

  number(name: string, fallback?: number): number {
    const value = this.value(name) ?? fallback;
    if (typeof value === "number") return value;
    if (value instanceof JsonNumber) return Number(value.text);
    throw this.#invalid(name, "must be a number");
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.value(name) ?? fallback;
    if (typeof value === "boolean") return value;
    throw this.#invalid(name, "must be true or false");
  }

  word<T extends string>(name: string, words: readonly T[], fallback?: T): T {
    const value = this.value(name) ?? fallback;
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    throw this.#invalid(name, `must be ${words.map((w) => JSON.stringify(w)).join(" or ")}`);
  }

  text(name: string, fallback?: string): string {
    const value = this.value(name) ?? fallback;
    if (typeof value === "string") return value;
    throw this.#invalid(name, "must be a string");
  }

  #invalid(name: string, rule: string): ZarrflowError {
    const value = this.value(name);
    const reason = value === undefined ? `\`${name}\` is required and ${rule}` : `\`${name}\` ${rule}`;
    return new ZarrflowError("invalid-metadata", reason, {
      setting: this.#within ?? name,
      value: value && String(value),
    });
  }
}

/** A setting that only encoding uses. */
export interface EncoderSetting<T> {
  /** The stated value, or a replacement that is never used to encode. */
  readonly value: T;
  /** @throws `invalid-metadata` if the stated value cannot be used to encode. */
  check(): void;
}

/**
 * Reads a setting that only encoding uses. Other writers may state values that this encoder does not accept; their
 * chunks can be decoded all the same. `assertEncodable` of the codec must call `check`.
 *
 * @param standIn used if `read` fails
 */
export function encoderSetting<T>(read: () => T, standIn: T): EncoderSetting<T> {
  const check = () => {
    read();
  };
  try {
    return { value: read(), check };
  } catch (error) {
    if (!isZarrflowError(error, "invalid-metadata")) throw error;
    return { value: standIn, check };
  }
}
