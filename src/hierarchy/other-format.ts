import type { ArrayMetadata, ZarrFormat } from "../meta/array-metadata.ts";
import { formatNamed } from "../meta/formats.ts";
import { sameDataType } from "../meta/same-data-type.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { ZarrArray, ZarrNode } from "./node.ts";
import { openNode } from "./open/open-node.ts";
import type { ReadDocumentOptions } from "./stored-documents.ts";

/** The formats whose documents can lie in one folder and describe the same chunks, as after `zarr migrate v3`. */
const PAIRS: Partial<Record<ZarrFormat, ZarrFormat>> = { v2: "v3", v3: "v2" };

/** The format that the chunks of a node may have documents of too. */
export function otherFormatName(zarrFormat: ZarrFormat): ZarrFormat | undefined {
  return PAIRS[zarrFormat];
}

/** The node as documents of another format beside its own describe it; undefined without any. @throws as `openNode` */
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
 * The same, to be changed together with the node.
 *
 * @throws `unsupported-operation` if the two describe different chunks: changing one would make the other worse.
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

/** Checks once that all documents of an array describe the chunks that are written by one. @throws as `editedAlong` */
export async function assertOneStorage(array: ZarrArray, options: ReadDocumentOptions): Promise<void> {
  const known = checked.get(array);
  const check = known ?? editedAlong(array, options);
  if (known === undefined) {
    checked.set(array, check);
    check.catch(() => checked.delete(array));
  }
  await check;
}

/** Tells what two descriptions of one array disagree on; undefined for nothing. */
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
