import { type Calendar, instantText, prolepticGregorian, timeCodingOf } from "../meta/conventions/cf/time.ts";
import type { DataType } from "../meta/data-type.ts";
import { toBase64 } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { NAT } from "../util/numbers.ts";

/** Conversion of values of a type to text. */
export interface CellText {
  /** True for values that may need quotes; false for numbers and booleans. */
  readonly isText: boolean;
  /** Returns undefined for a missing value. */
  readonly textOf: (value: unknown) => string | undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the conversion of decoded values to text: times as ISO 8601, floats with the fewest digits that identify
 * them, bytes as Base64.
 */
export function cellText(
  { dataType, calendar }: { readonly dataType: DataType; readonly calendar?: Calendar | undefined },
  isDecoded: boolean,
): CellText {
  switch (dataType.kind) {
    case "bool":
      return { isText: false, textOf: (value) => (value ? "true" : "false") };
    case "float": {
      const digits = dataType.size === 8 ? String : shortFloat;
      const write = (value: number) => (Object.is(value, -0) ? "-0" : digits(value));
      return {
        isText: false,
        textOf: (value) => (isDecoded && Number.isNaN(value) ? undefined : write(value as number)),
      };
    }
    case "datetime":
      return { isText: true, textOf: isDecoded ? timeText(dataType, calendar) : countText };
    case "timedelta":
      return { isText: isDecoded, textOf: isDecoded ? spanText(dataType) : countText };
    case "fixed-bytes":
      return { isText: true, textOf: (value) => utf8Text(value as Uint8Array) };
    case "raw":
    case "binary":
      return { isText: true, textOf: (value) => toBase64(value as Uint8Array) };
    case "string":
    case "fixed-text":
      return { isText: true, textOf: (value) => (value === null ? undefined : (value as string)) };
    default:
      return { isText: false, textOf: String };
  }
}

const rounded = new Float32Array(1);

/** The shortest decimal that rounds to a float of 4 bytes or less. */
function shortFloat(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    rounded[0] = short;
    if (rounded[0] === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

function countText(value: unknown): string | undefined {
  return value === NAT ? undefined : String(value);
}

function timeText(
  dataType: DataType,
  calendar: Calendar | undefined,
): (value: unknown) => string | undefined {
  const coding = timeCodingOf(dataType, {});
  return (value) => {
    const instant = coding?.instantOf(value as bigint);
    return instant === undefined ? undefined : instantText(instant, calendar ?? prolepticGregorian);
  };
}

/**
 * Returns a function that writes durations as ISO 8601: `PT90S`; years and months, which have no fixed length, as
 * `P3M`.
 */
function spanText({ unit, scale }: Extract<DataType, { readonly kind: "timedelta" | "datetime" }>) {
  return (value: unknown) => {
    if (value === NAT) return undefined;
    const count = (value as bigint) * BigInt(scale);
    const sign = count < 0n ? "-" : "";
    const size = count < 0n ? -count : count;
    const whole: Readonly<Record<string, string>> = {
      Y: "PnY",
      M: "PnM",
      W: "PnW",
      D: "PnD",
      h: "PTnH",
      m: "PTnM",
    };
    const form = whole[unit];
    if (form) return `${sign}${form.replace("n", `${size}`)}`;
    const digits = ["s", "ms", "us", "ns", "ps", "fs", "as"].indexOf(unit) * 3;
    if (digits <= 0) return `${sign}PT${size}S`;
    const text = `${size}`.padStart(digits + 1, "0");
    const fraction = text.slice(-digits).replace(/0+$/, "");
    return `${sign}PT${text.slice(0, -digits)}${fraction && `.${fraction}`}S`;
  };
}

/** Decodes fixed-size bytes as text. @throws `unsupported-operation` for bytes that are not UTF-8 text */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    const hint = "Use --format json, which writes them as Base64.";
    throw new ZarrflowError("unsupported-operation", "these bytes are not UTF-8 text", { hint }, { cause });
  }
}
