import type { Endian } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { Settings } from "../settings.ts";

/** The type of the numbers that a filter computes with. */
export interface NumberType {
  readonly kind: "int" | "uint" | "float";
  readonly size: number;
  readonly endian: Endian;
}

const KINDS = { i: "int", u: "uint", f: "float", m: "int", M: "int" } as const;
const TYPE = /^[<>|=]?([iuf][1248]|[mM]8(?:\[.*\])?)$/;

/**
 * Reads the NumPy type `settings` names, such as `<f4`; times are read as the integers they are stored as.
 *
 * @throws `invalid-metadata` when the name is absent; `unsupported-data-type` when it is no type of number.
 */
export function numberType(settings: Settings, name: string, fallback?: NumberType): NumberType {
  if (fallback && settings.value(name) === undefined) return fallback;
  const text = settings.text(name);
  const [, code = ""] = TYPE.exec(text) ?? [];
  const kind = KINDS[code[0] as keyof typeof KINDS];
  const size = Number(code[1]);
  if (kind === undefined || (kind === "float" && size === 1)) {
    throw new ZarrflowError("unsupported-data-type", `\`${name}\` is no type of number`, {
      value: text,
      hint: "Filters compute with `i`, `u` and `f` types of 1 to 8 bytes, such as `<f4`.",
    });
  }
  return { kind, size, endian: text.startsWith(">") ? "big" : "little" };
}
