import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import type { ArrayMetadata, ZarrFormat } from "../array-metadata.ts";
import { keepBefore, restoreBefore } from "../before-conversion.ts";
import { zeroElement } from "../fill-values.ts";
import { writeFillV3 } from "../v3/fill-value.ts";
import type { Convention, ConventionNode } from "./convention.ts";
import {
  FILL_VALUE_ATTRIBUTE,
  isVariable,
  missingValueOf,
  parseMissing,
  statedMissing,
  writeMissing,
} from "./missing-value.ts";

/** Reports metadata of one array that cannot be converted. */
type Warn = (message: string, hint?: string) => void;
const nobody: Warn = () => {};

/**
 * The missing value of variables: the fill value in v2, the attribute `_FillValue` in v3. In v3 the fill value is
 * only the content of missing chunks. Arrays without dimension names are not variables and stay unchanged. Scalars
 * among variables are the exception: they need empty dimension names in v2, but not in v3.
 */
export const missingValues: Convention = {
  name: "missing values",
  convert(nodes, { from, to, note }) {
    if (!(from === "v2" && to === "v3") && !(from === "v3" && to === "v2")) return nodes;
    const areVariables = nodes.some(({ metadata }) => metadata.kind === "array" && isVariable(metadata));
    return nodes.map((node): ConventionNode => {
      const { metadata, path } = node;
      if (metadata.kind !== "array") return node;
      const named = from === "v3" && areVariables ? namedScalar(metadata) : metadata;
      if (!isVariable(named)) return node;
      const warn: Warn = (message, hint) => note({ path, message, ...(hint && { hint }) });
      return { path, metadata: converted(metadata, named, { from, to, warn }) };
    });
  },
};

interface Change {
  readonly from: ZarrFormat;
  readonly to: ZarrFormat;
  readonly warn: Warn;
}

/** Converts an array, and records its former parts for the way back. */
function converted(before: ArrayMetadata, named: ArrayMetadata, { from, to, warn }: Change): ArrayMetadata {
  const names = [FILL_VALUE_ATTRIBUTE];
  const forth = to === "v3" ? toV3(named, warn) : toV2(named, warn);
  const back = to === "v3" ? toV2(forth, nobody) : toV3(forth, nobody);
  const restored = restoreBefore(forth, before.beforeConversion, { format: to, names });
  const way =
    restored === forth ? back : to === "v3" ? toV2(namedScalar(restored), nobody) : toV3(restored, nobody);
  return keepBefore(before, restored, way, { from, names });
}

/** Adds the empty dimension names that a scalar needs in v2. */
function namedScalar(metadata: ArrayMetadata): ArrayMetadata {
  const isScalar = metadata.shape.length === 0 && metadata.dimensionNames === undefined;
  return isScalar ? { ...metadata, dimensionNames: [] } : metadata;
}

function toV3(metadata: ArrayMetadata, warn: Warn): ArrayMetadata {
  const { attributes, dataType, fillValue } = metadata;
  const stated = statedMissing(attributes);
  const missing = missingValueOf(metadata, "v2");
  const attribute = missing && writeMissing(missing, dataType);
  if (attribute === undefined && (missing ?? stated) !== undefined) {
    const value = missing ? (writeFillV3(missing, dataType) ?? "") : (stated ?? "");
    warn(
      `the missing value ${text(value)} is dropped: v3 cannot store it for this data type in a form that xarray reads`,
      "Items equal to it are read as ordinary values.",
    );
  }
  return {
    ...metadata,
    attributes: withMissing(attributes, attribute),
    fillValue: fillValue.bytes ? fillValue : { bytes: zeroElement(dataType) },
  };
}

function toV2(metadata: ArrayMetadata, warn: Warn): ArrayMetadata {
  const { attributes, dataType, fillValue } = metadata;
  const stated = statedMissing(attributes);
  if (stated === undefined) {
    if (!hasNodata(attributes)) return { ...metadata, fillValue: { bytes: null } };
    const value = fillValue.bytes && writeFillV3(fillValue.bytes, dataType);
    if (value !== null) {
      warn(
        `the fill value ${text(value ?? "")} is kept; GDAL treats it as nodata, and xarray treats it as missing in v2`,
      );
    }
    return metadata;
  }
  const bytes = parseMissing(stated, dataType);
  if (bytes === undefined) return { ...metadata, fillValue: { bytes: null } };
  return { ...metadata, attributes: withMissing(attributes, undefined), fillValue: { bytes } };
}

/** True if GDAL wrote the array: its readers use the fill value as nodata in all formats. */
function hasNodata(attributes: JsonObject): boolean {
  return Object.hasOwn(attributes, "_CRS");
}

/** Sets or removes the missing value; returns the same object if nothing changes. */
function withMissing(attributes: JsonObject, attribute: JsonValue | undefined): JsonObject {
  if (attribute === undefined && statedMissing(attributes) === undefined) return attributes;
  const { [FILL_VALUE_ATTRIBUTE]: _, ...others } = attributes;
  return attribute === undefined ? others : { ...others, [FILL_VALUE_ATTRIBUTE]: attribute };
}

function text(value: JsonValue): string {
  return writeJson(value, { nonFinite: "token" });
}
