import type { ArrayMetadata, ZarrFormat } from "../meta/array-metadata.ts";
import { sameDataType } from "../meta/data-type.ts";
import { formatNamed } from "../meta/formats.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { ZarrArray, ZarrNode } from "./node.ts";
import { openNode } from "./open/open-node.ts";
import type { ReadDocumentOptions } from "./stored-documents.ts";

/** Pairs of formats whose documents can describe the same chunks from one folder, as after `zarr migrate v3`. */
const PAIRS: Partial<Record<ZarrFormat, ZarrFormat>> = { v2: "v3", v3: "v2" };

/** The other format whose documents may describe the same chunks. */
export function otherFormatName(zarrFormat: ZarrFormat): ZarrFormat | undefined {
  return PAIRS[zarrFormat];
}

/** Opens the node by documents of another format beside its own; undefined without any. @throws as `openNode` */
export async function inOtherFormat(
  { store, path, kind, layout, spec }: ZarrNode,
  options: ReadDocumentOptions = {},
): Promise<ZarrNode | undefined> {
  const zarrFormat = otherFormatName(layout.zarrFormat);
  if (zarrFormat === undefined) return undefined;
  const { documentKeys, attributesKey, groupKey } = formatNamed(zarrFormat).layout(path);
  const isOfKind = (key: string) => groupKey === undefined || (key === groupKey) === (kind === "group");
  const key = documentKeys.find((one) => one !== attributesKey && isOfKind(one));
  if (key === undefined || (await store.size(key, { signal: options.signal })) === undefined)
    return undefined;
  return openNode(store, path, { ...options, spec, zarrFormat });
}

/**
 * As `inOtherFormat`, for documents that must change together with the node.
 *
 * @throws `unsupported-operation` if the documents describe different chunks: a change would fit only one of them.
 */
export async function editedAlong(
  node: ZarrNode,
  options: ReadDocumentOptions = {},
): Promise<ZarrNode | undefined> {
  const other = await inOtherFormat(node, options);
  if (other === undefined || node.kind === "group") return other;
  const what = other.kind === "array" ? differenceOf(node, other) : "a group";
  if (what === undefined) return other;
  const [mine, others] = [node.layout.zarrFormat, other.layout.zarrFormat];
  throw new ZarrflowError(
    "unsupported-operation",
    `the documents of ${mine} and ${others} describe different chunks, so neither can be changed`,
    {
      store: node.store.description,
      path: node.path,
      found: `different ${what}`,
      hint: `Delete the documents of the format that is wrong (${[...other.documents.keys()].join(", ")} are those of ${others}).`,
    },
  );
}

const checked = new WeakMap<ZarrArray, Promise<unknown>>();

/** Checks, once per array, that all its documents describe the same chunks. @throws as `editedAlong` */
export async function assertOneStorage(array: ZarrArray, options: ReadDocumentOptions): Promise<void> {
  const known = checked.get(array);
  const check = known ?? editedAlong(array, options);
  if (known === undefined) {
    checked.set(array, check);
    check.catch(() => checked.delete(array));
  }
  await check;
}

/** Names the first property on which two descriptions of an array differ; undefined if none. */
function differenceOf(a: ZarrArray, b: ZarrArray): string | undefined {
  const codecs = ({ metadata }: ZarrArray) => metadata.codecs.map(({ name }) => name).join(", ");
  const key = ({ layout, metadata }: ZarrArray) =>
    layout.chunkKey(
      metadata.shape.map(() => 1),
      metadata.chunkKeyEncoding,
    );
  const gridOf = ({ chunkGrid }: ArrayMetadata) => `${chunkGrid.chunkShape} ${chunkGrid.innerChunkShape}`;
  if (`${a.shape}` !== `${b.shape}`) return "shapes";
  if (!sameDataType(a.metadata.dataType, b.metadata.dataType)) return "data types";
  if (gridOf(a.metadata) !== gridOf(b.metadata)) return "chunk shapes";
  if (codecs(a) !== codecs(b)) return "codecs";
  return key(a) === key(b) ? undefined : "chunk keys";
}
