import { refreshConsolidated } from "../../../hierarchy/edit/consolidated.ts";
import type { ZarrNode } from "../../../hierarchy/node.ts";
import { readDocument } from "../../../hierarchy/stored-documents.ts";
import { isObject } from "../../../meta/assert-json.ts";
import { formatNamed } from "../../../meta/formats.ts";
import type { WritableStore } from "../../../stores/store.ts";
import { isZarrflowError } from "../../../util/errors.ts";
import { parseJson } from "../../../util/json-parse.ts";
import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { writeJson } from "../../../util/json-write.ts";
import { ancestorPaths } from "../../../util/node-path.ts";
import type { ReadNodes } from "../nodes.ts";
import { done, type Fix, fixed } from "./fix.ts";

/** A document of an array as it should be. */
interface MendedDocument {
  readonly path: string;
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly isNaNMended: boolean;
  readonly isSeparatorStated: boolean;
}

const SEPARATOR = "dimension_separator";

/**
 * Writes what documents of arrays should say: fill values as the strings that the formats have for NaN and infinities in
 * place of bare tokens, and the separator that the keys of the chunks have. Consolidated metadata are kept true.
 */
export async function* fixDocuments(
  root: ZarrNode,
  store: WritableStore,
  { nodes, broken }: ReadNodes,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Fix> {
  const { zarrFormat } = root.layout;
  if (zarrFormat !== "v2" && zarrFormat !== "v3") return;
  const { maxMetadata } = root.reading;
  const reading = { maxMetadata, signal };
  const documents = new Map<string, Uint8Array>();
  const mended: MendedDocument[] = [];
  for (const path of [...nodes.keys(), ...broken]) {
    const node = nodes.get(path);
    if (node?.kind === "group") continue;
    const isNested = node?.metadata.kind === "array" && node.metadata.chunkKeyEncoding.separator === "/";
    const name = zarrFormat === "v2" ? ".zarray" : "zarr.json";
    for (const key of formatNamed(zarrFormat).layout(path).documentKeys) {
      const bytes = node?.documents.get(key) ?? (await documentAt(store, key, reading));
      if (bytes === undefined) continue;
      documents.set(key, bytes);
      if (key !== name && !key.endsWith(`/${name}`)) continue;
      const after = mend(bytes, zarrFormat, isNested);
      if (after === undefined) continue;
      documents.set(key, after.bytes);
      mended.push({ path, key, ...after });
    }
  }
  if (mended.length === 0) return;
  const paths = mended.map(({ path }) => path);
  const groups = new Set(paths.flatMap((path) => ancestorPaths(path)));
  await refreshConsolidated(
    store,
    { groups: [...groups], nodes: paths },
    async () => {
      for (const { key, bytes } of mended) await store.set(key, bytes);
      const written = new Map<string, Uint8Array>();
      for (const path of paths) {
        for (const key of formatNamed(zarrFormat).layout(path).documentKeys) {
          const bytes = documents.get(key);
          if (bytes) written.set(key, bytes);
        }
      }
      return { written };
    },
    reading,
  );
  for (const { path, key, isNaNMended, isSeparatorStated } of mended) {
    if (isNaNMended) {
      const message = `a bare NaN or Infinity as the fill value ${done("was", "rewritten as a string", dryRun)}`;
      yield fixed("metadata", path, message, { key, pointer: "/fill_value" });
    }
    if (isSeparatorStated) {
      const message = `\`${SEPARATOR}\`, which the document omits, ${done("was", 'written as "/", as the chunks have it', dryRun)}`;
      yield fixed("metadata", path, message, { key, pointer: `/${SEPARATOR}` });
    }
  }
}

/** A document, or nothing where it cannot be read: that is reported anyway. */
async function documentAt(
  store: WritableStore,
  key: string,
  options: { readonly maxMetadata?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array | undefined> {
  try {
    return (await readDocument(store, key, options))?.bytes;
  } catch (error) {
    if (isZarrflowError(error, "resource-limit") || isZarrflowError(error, "corrupt-store")) return undefined;
    throw error;
  }
}

/** What an array's document should say; undefined where it says that, or says nothing that can be read. */
function mend(
  bytes: Uint8Array,
  zarrFormat: "v2" | "v3",
  isNested: boolean,
): Pick<MendedDocument, "bytes" | "isNaNMended" | "isSeparatorStated"> | undefined {
  const document = parsed(bytes);
  if (!isObject(document)) return undefined;
  const fill = isFloatArray(document, zarrFormat) ? withoutTokens(document.fill_value) : undefined;
  const isSeparatorStated = zarrFormat === "v2" && isNested && !Object.hasOwn(document, SEPARATOR);
  if (fill === undefined && !isSeparatorStated) return undefined;
  const after: JsonObject = {
    ...document,
    ...(fill !== undefined && { fill_value: fill }),
    ...(isSeparatorStated && { [SEPARATOR]: "/" }),
  };
  const text = writeJson(after, { indent: zarrFormat === "v2" ? 4 : 2, ascii: true, nonFinite: "token" });
  return { bytes: new TextEncoder().encode(text), isNaNMended: fill !== undefined, isSeparatorStated };
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(bytes, { allowNonFinite: () => true });
  } catch (error) {
    if (isZarrflowError(error)) return undefined;
    throw error;
  }
}

/** Whether it describes an array whose fill value is a float, or two. */
function isFloatArray(document: JsonObject, zarrFormat: "v2" | "v3"): boolean {
  if (zarrFormat === "v2") return /^[<>|=]?[fc]\d+$/.test(String(document.dtype));
  return document.node_type === "array" && /^(?:float|bfloat|complex)\d/.test(String(document.data_type));
}

/** A fill value with strings in place of bare tokens; undefined where it has none. */
function withoutTokens(fill: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(fill)) {
    const parts = fill.map(withoutTokens);
    return parts.every((part) => part === undefined) ? undefined : fill.map((part, i) => parts[i] ?? part);
  }
  return typeof fill === "number" && !Number.isFinite(fill) ? String(fill) : undefined;
}
