import { fromPlain } from "../../util/json-plain.ts";
import { writeJson } from "../../util/json-write.ts";
import { printableJson } from "./printable.ts";

/**
 * A value as strict JSON that loses no digit of a bigint; numbers that are not finite become null. What would do something to
 * a terminal is escaped.
 */
export function toJson(value: unknown, indent = 0): string {
  return printableJson(writeJson(fromPlain(value), { indent, nonFinite: "null" }));
}
