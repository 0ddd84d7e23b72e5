import { fromPlain } from "../../util/json-plain.ts";
import { writeJson } from "../../util/json-write.ts";

/** A value as strict JSON that loses no digit of a bigint; numbers that are not finite become null. */
export function toJson(value: unknown, indent = 0): string {
  return writeJson(fromPlain(value), { indent, nonFinite: "null" });
}
