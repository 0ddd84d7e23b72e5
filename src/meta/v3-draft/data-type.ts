import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import { assertString, invalidMetadata, isJsonObject, member, refusal, required } from "../assert-json.ts";
import type { DataType, Endian } from "../data-type.ts";
import type { Finding } from "../format.ts";
import type { Losses } from "../losses.ts";
import { numberKindOf } from "../number-kinds.ts";
import { parseNumpyType, type StoredType } from "../v2/data-type.ts";
import { writeNumpyType } from "../v2/numpy-type.ts";
import type { DraftForm } from "./form.ts";

const CORE = /^(?:bool|[iu]1|[<>](?:[iu][248]|f[248]))$/;

/** The extension for times, which readers without it read as integers. */
const DATETIME = "http://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0";

/**
 * A data type of a draft. If it is an extension that is read as its fallback, `extension` is the object as written.
 */
export interface DraftType extends StoredType {
  readonly extension?: JsonObject;
}

/** @throws `unsupported-data-type` if it is not a core type and has no fallback; `invalid-metadata`. */
export function parseDraftType(
  json: JsonValue,
  form: DraftForm,
  pointer: string,
  findings: Finding[],
): DraftType {
  if (typeof json === "string") {
    const type = coreType(json);
    if (type) return type;
    throw refusal(
      "unsupported-data-type",
      pointer,
      "not a data type in this format",
      json,
      "A type is `bool`, `i1`, `u1`, or byte order, kind and size, such as `<f8`.",
    );
  }
  if (!isJsonObject(json))
    throw invalidMetadata(pointer, "must be a type string or an object of an extension", json);
  const uri = assertString(required(json, "extension", pointer), pointerTo(pointer, "extension"));
  const stated = required(json, "type", pointer);
  const known = knownType(uri, stated, form, pointerTo(pointer, "type"));
  if (known) return known;
  const fallback = member(json, "fallback") ?? null;
  if (fallback === null) {
    throw refusal(
      "unsupported-data-type",
      pointer,
      "an extension that is not known, without a fallback",
      uri,
    );
  }
  const type = typeof fallback === "string" ? coreType(fallback) : undefined;
  if (!type) throw invalidMetadata(pointerTo(pointer, "fallback"), "must be a core data type", fallback);
  findings.push({ message: `the data type of \`${uri}\` is read as its fallback, \`${fallback}\``, pointer });
  return { ...type, extension: json };
}

/** Reads an extension type of the draft's own writers. */
function knownType(uri: string, json: JsonValue, form: DraftForm, pointer: string): StoredType | undefined {
  if (![...form.extensionTypes.values()].includes(uri)) return undefined;
  const type = parseNumpyType(json, pointer);
  return form.extensionTypes.get(type.dataType.kind) === uri ? type : undefined;
}

function coreType(name: string): StoredType | undefined {
  if (!CORE.test(name)) return undefined;
  if (name === "bool") return parseNumpyType("|b1", "");
  return parseNumpyType(name.length === 2 ? `|${name}` : name, "");
}

/**
 * Writes a data type. A draft without times stores them in an extension, which counts as a loss because other readers
 * see integers.
 */
export function writeDraftType(
  dataType: DataType,
  endian: Endian | undefined,
  form: DraftForm,
  losses: Losses,
): JsonValue {
  const extension = form.extensionTypes.get(dataType.kind);
  if (extension) return { extension, type: writeNumpyType(dataType, endian), fallback: null };
  if (dataType.kind === "datetime" || dataType.kind === "timedelta") {
    losses.add("/data_type", "times, which are read as integers");
    const type = writeNumpyType(dataType, endian);
    return { extension: DATETIME, type, fallback: coreName({ kind: "int", size: 8 }, endian) };
  }
  const name = coreName(dataType, endian);
  if (!CORE.test(name))
    losses.require("/data_type", `the data type \`${numberKindOf(dataType)?.name ?? dataType.kind}\``);
  return name;
}

/** The draft's name of a core type; NumPy's name of any other. */
export function coreName(dataType: DataType, endian: Endian | undefined): string {
  const name = String(writeNumpyType(dataType, endian));
  return name === "|b1" ? "bool" : name.replace(/^\|(?=[iu]1$)/, "");
}
