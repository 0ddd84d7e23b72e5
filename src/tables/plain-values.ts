import { timeCodingOf } from "../meta/conventions/cf/time.ts";
import type { DataType } from "../meta/data-type.ts";
import type { DecodedValues } from "../run/slabs/decoder.ts";
import type { ItemValues } from "../run/slabs/typed-values.ts";
import { ZarrflowError } from "../util/errors.ts";
import { NAT } from "../util/numbers.ts";
import { utf8Text } from "./cell-text.ts";
import type { Column, Rows } from "./column.ts";

/** A column with a type that columnar files support: numbers, booleans, times in a supported unit, text, bytes. */
export interface PlainColumn {
  readonly type: DataType;
  readonly valuesOf: (rows: Rows) => DecodedValues;
  readonly isMissing: (value: unknown) => boolean;
}

/** Units of times that columnar files support. */
const UNITS = ["ms", "us", "ns"];

/** Converts a column to a type that columnar files support. */
export function plainColumn(column: Column, isDecoded: boolean): PlainColumn {
  const { dataType } = column;
  const valuesOf = (rows: Rows) => column.valuesOf(rows);
  const never = () => false;
  switch (dataType.kind) {
    case "float":
      return { type: dataType, valuesOf, isMissing: isDecoded ? Number.isNaN : never };
    case "datetime":
    case "timedelta": {
      const isMissing = (value: unknown) => value === NAT;
      if (dataType.scale === 1 && UNITS.includes(dataType.unit))
        return { type: dataType, valuesOf, isMissing };
      if (dataType.kind === "timedelta" && (dataType.unit === "Y" || dataType.unit === "M")) {
        throw new ZarrflowError(
          "unsupported-operation",
          "time spans in years or months have no fixed length",
          {
            path: column.name,
            hint: "Use --format csv.",
          },
        );
      }
      const coding = timeCodingOf({ ...dataType, kind: "datetime" }, {});
      const inMicroseconds = (value: unknown) => (coding?.instantOf(value as bigint) ?? NAT * 1000n) / 1000n;
      return {
        type: { ...dataType, unit: "us", scale: 1 },
        valuesOf: (rows) => BigInt64Array.from(column.valuesOf(rows) as BigInt64Array, inMicroseconds),
        isMissing,
      };
    }
    case "fixed-bytes":
      return {
        type: { kind: "string" },
        valuesOf: (rows) => Array.from(valuesOf(rows) as ItemValues<Uint8Array>, utf8Text),
        isMissing: never,
      };
    case "raw":
    case "binary":
      return { type: { kind: "binary" }, valuesOf, isMissing: never };
    case "string":
    case "fixed-text":
      return { type: { kind: "string" }, valuesOf, isMissing: (value) => value === null };
    default:
      return { type: dataType, valuesOf, isMissing: never };
  }
}

/** Bitmap of values, with a bit set for each value that is not missing. */
export function validity(values: DecodedValues, isMissing: PlainColumn["isMissing"]) {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  for (let i = 0; i < values.length; i++) {
    if (isMissing(values.at(i))) nullCount++;
    else nullBitmap[i >> 3] = (nullBitmap[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return { nullBitmap, nullCount };
}

const encoder = new TextEncoder();

/** Text or bytes one after another, with the start of each. */
export function binaryColumn(values: DecodedValues): {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
} {
  const parts = Array.from(values as Iterable<string | Uint8Array | null>, (value) =>
    typeof value === "string" ? encoder.encode(value) : (value ?? new Uint8Array(0)),
  );
  const offsets = new Int32Array(parts.length + 1);
  for (const [i, { length }] of parts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + length;
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  for (const [i, part] of parts.entries()) bytes.set(part, offsets[i]);
  return { bytes, offsets };
}

/**
 * Loads an optional package that users install to write its format.
 *
 * @throws `unsupported-operation` with the command to install it, if it is missing
 */
export async function loadPackage<T>(
  load: (() => Promise<T>) | undefined,
  name: string,
  format: string,
): Promise<T> {
  if (load === undefined) {
    throw new ZarrflowError("unsupported-operation", `${format} cannot be written in browsers`, {
      hint: "Use another format: raw, npy, npz, json, ndjson or csv.",
    });
  }
  return importPackage(load, name, `${format} is written`);
}

/**
 * Loads an optional package that users install.
 *
 * @throws `unsupported-operation` with the command to install it, if it is missing
 */
export async function importPackage<T>(load: () => Promise<T>, name: string, what: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message = "" } = cause as NodeJS.ErrnoException;
    const isAbsent = code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${name.replace(/@.*/, "")}'`);
    if (!isAbsent) throw cause;
    throw new ZarrflowError(
      "unsupported-operation",
      `${what} by an optional package that is not installed`,
      {
        expected: name.replace(/@.*/, ""),
        hint: `Install it beside zarrflow: npm install ${name}.`,
      },
      { cause },
    );
  }
}
