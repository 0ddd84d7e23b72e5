import { carriesConsolidated } from "../../hierarchy/consolidated.ts";
import { ancestorDocuments } from "../../hierarchy/create/assertions.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { consolidate } from "../../meta/consolidated.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Plan } from "../../plan/plan.ts";
import { assertKey, assertPrefix } from "../../stores/key.ts";
import {
  type GetOptions,
  isListable,
  type ListableStore,
  type Store,
  type StoreOptions,
  type VersionOptions,
} from "../../stores/store.ts";
import { sourceChanged } from "../../stores/version.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { crc32 } from "../../util/crc32.ts";
import { folderOf } from "../../util/node-path.ts";
import { streamFrom } from "../../util/web-streams.ts";
import type { KeyOrigins } from "./key-origins.ts";
import { listVirtualKeys, listVirtualLevel } from "./list-virtual.ts";
import type { MadeValue, WindowCache } from "./window-cache.ts";

export interface VirtualStoreOptions {
  readonly origins: KeyOrigins;
  readonly source: Store;
  readonly windows: WindowCache;
  /** @throws `source-changed` */
  readonly assertUnchanged: NonNullable<Store["version"]>;
  readonly close: () => Promise<void>;
}

/**
 * Shows what a plan would write as a store: documents, unchanged source values, and values that tasks make on demand.
 */
export function virtualStore({
  origins,
  source,
  windows,
  assertUnchanged,
  close,
}: VirtualStoreOptions): Store & Partial<ListableStore> {
  /** Applies `read` to a value held here, or `readSource` to the key of its copy in the source. */
  const held = async <T>(
    key: string,
    { signal }: VersionOptions,
    read: (value: MadeValue) => T,
    readSource: (key: string) => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    assertKey(key);
    throwIfAborted(signal);
    const origin = origins.originOf(key);
    if (origin === undefined) return undefined;
    if ("sourceKey" in origin) return readSource(origin.sourceKey);
    if ("document" in origin) return read({ bytes: origin.document });
    return windows.use(origin.task, key, signal, (value) => value && read(value));
  };
  const listing = { origins, source, windows };
  return {
    description: `${source.description}, transformed on the fly`,
    async get(key, options: GetOptions = {}) {
      const { range, ifVersion, onVersion, allocate = plainBuffers.take } = options;
      const read = (value: MadeValue) => {
        if (onVersion || ifVersion !== undefined) {
          const version = versionOf(value);
          if (ifVersion !== undefined && ifVersion !== version) {
            throw sourceChanged("the value changed while it was being read").addContext({ key });
          }
          onVersion?.(version);
        }
        const { offset, length } = resolveRange(range, value.bytes.length);
        const bytes = allocate(length);
        bytes.set(value.bytes.subarray(offset, offset + length));
        return bytes;
      };
      const found = await held(key, options, read, (sourceKey) => source.get(sourceKey, options));
      if (found === undefined && ifVersion !== undefined) {
        throw sourceChanged("the value was removed while it was being read").addContext({ key });
      }
      return found;
    },
    size(key, options = {}) {
      const read = (value: MadeValue) => {
        options.onVersion?.(versionOf(value));
        return value.bytes.length;
      };
      return held(key, options, read, (sourceKey) => source.size(sourceKey, options));
    },
    version: assertUnchanged,
    close,
    ...(isListable(source) && {
      list(prefix, { signal } = {}) {
        assertPrefix(prefix);
        return streamFrom(listVirtualKeys(prefix, { ...listing, signal }));
      },
      listDirectory(prefix, { signal } = {}) {
        assertPrefix(prefix);
        return streamFrom(listVirtualLevel(prefix, { ...listing, signal }));
      },
    }),
  };
}

function versionOf(value: MadeValue): string {
  value.version ??= `${crc32(value.bytes).toString(16).padStart(8, "0")}-${value.bytes.length.toString(16)}`;
  return value.version;
}

/**
 * Adds consolidated metadata to the documents of a plan's target, if its root is a group and the format supports them.
 * Implied groups get documents too, since clients that cannot list would not see them otherwise.
 */
export async function consolidatedRoot(
  { source: { path }, publication }: Plan,
  documents: Documents,
  source: Store,
  options: StoreOptions,
): Promise<Documents> {
  const { zarrFormat, from, copyKeys, consolidate: groups } = publication;
  const format = formatNamed(zarrFormat);
  const layout = format.layout("");
  const key = layout.consolidatedKey;
  if (key === undefined || groups.includes("") || documents.has(".zmetadata")) return documents;
  if (documents.size === 0 || format.parse(documents, layout)?.metadata.kind === "array") return documents;
  const sourceKey = formatNamed(from).layout(path).consolidatedKey;
  const isCarried = carriesConsolidated(layout);
  const isCopied = !isCarried && copyKeys && from === zarrFormat && sourceKey !== undefined;
  const bytes = isCopied ? await source.get(sourceKey, options) : documents.get(key);
  const isThere = bytes !== undefined && (!isCarried || format.readConsolidated?.(bytes, "") !== undefined);
  return isThere ? documents : consolidate(zarrFormat, "", withImpliedGroups(documents, zarrFormat));
}

function withImpliedGroups(documents: Documents, zarrFormat: ZarrFormat): Documents {
  const all = new Map(documents);
  for (const key of documents.keys()) {
    const path = folderOf(key);
    for (const [key, bytes] of ancestorDocuments(path, zarrFormat).flatMap((group) => [...group]))
      if (!all.has(key)) all.set(key, bytes);
  }
  return all;
}
