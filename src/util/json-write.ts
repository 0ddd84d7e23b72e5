import { ZarrflowError } from "./errors.ts";
import { JsonNumber, type JsonPath, type JsonValue, pointerOf } from "./json-value.ts";
import { sortUtf8 } from "./names.ts";

export interface WriteJsonOptions {
  /** Spaces per level; 0 (the default) writes a single line. */
  readonly indent?: number;
  /** Sorts names by code point. */
  readonly sortNames?: boolean;
  /** Escapes every character outside printable ASCII. */
  readonly ascii?: boolean;
  /** How NaN and infinities are written: rejected, `null`, or a bare token that only lenient readers accept. */
  readonly nonFinite?: "refuse" | "null" | "token";
}

/**
 * Writes JSON; a `JsonNumber` keeps its text. With `{ indent: 4, sortNames: true, ascii: true }` the bytes equal
 * those of Python's `json.dumps(value, indent=4, sort_keys=True, ensure_ascii=True)`.
 *
 * @throws `loss-refused` with the pointer of a number that is not finite, if `nonFinite` is `refuse`.
 */
export function writeJson(value: JsonValue, options: WriteJsonOptions = {}): string {
  const { indent = 0, sortNames = false, ascii = false, nonFinite = "refuse" } = options;
  const path: (string | number)[] = [];

  const write = (item: JsonValue): string => {
    if (item === null || typeof item === "boolean") return String(item);
    if (typeof item === "string") return quote(item, ascii);
    if (item instanceof JsonNumber) return item.text;
    if (typeof item === "number")
      return Number.isFinite(item) ? formatNumber(item) : unusual(item, nonFinite, path);
    if (Array.isArray(item))
      return enclose(
        "[",
        item.map((child, i) => descend(i, child)),
        "]",
      );
    const names = Object.keys(item);
    if (sortNames) sortUtf8(names);
    const colon = indent > 0 ? ": " : ":";
    return enclose(
      "{",
      names.map((name) => quote(name, ascii) + colon + descend(name, item[name] ?? null)),
      "}",
    );
  };
  const descend = (token: string | number, child: JsonValue): string => {
    path.push(token);
    const text = write(child);
    path.pop();
    return text;
  };
  const enclose = (open: string, items: readonly string[], close: string): string => {
    if (items.length === 0) return open + close;
    if (indent === 0) return open + items.join(",") + close;
    const margin = `\n${" ".repeat(indent * path.length)}`;
    const inner = margin + " ".repeat(indent);
    return open + inner + items.join(`,${inner}`) + margin + close;
  };
  return write(value);
}

/**
 * Formats a float as Python's `repr` does: the shortest digits that read back the same, with a point or an exponent.
 */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const magnitude = Math.abs(value);
  if (magnitude === Number.POSITIVE_INFINITY) return `${sign}Infinity`;
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e16)) {
    const text = String(magnitude);
    return sign + (text.includes(".") ? text : `${text}.0`);
  }
  const [mantissa, exponent] = magnitude.toExponential().split("e");
  const power = Number(exponent);
  return `${sign}${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Formats safe integers as integers, other numbers as floats. */
function formatNumber(value: number): string {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : formatFloat(value);
}

function unusual(value: number, nonFinite: "refuse" | "null" | "token", path: JsonPath): string {
  if (nonFinite === "null") return "null";
  if (nonFinite === "token") return String(value);
  const pointer = pointerOf(path);
  throw new ZarrflowError("loss-refused", `JSON cannot hold ${value}`, {
    pointer,
    pointers: [pointer],
    value,
  });
}

function quote(text: string, ascii: boolean): string {
  const quoted = JSON.stringify(text);
  if (!ascii) return quoted;
  return quoted.replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
