import type { OpenSource } from "../../src/index.ts";
import { type BlobLike, FileSystemStore, FilesStore, openZipBlob } from "../../src/stores/file-system.ts";
import type { Store } from "../../src/stores/store.ts";

/** The data that the page shows: their name, and a source for `open`. */
export interface Opened {
  readonly name: string;
  readonly source: string | Store;
}

/** The source of a node below the opened data. */
export function sourceAt({ source }: Opened, path: string): OpenSource {
  if (typeof source === "string") return path === "" ? source : `${source.replace(/\/$/, "")}/${path}`;
  return { store: source, path };
}

/** Opens a zip that the user chose. */
export async function openZip(file: File): Promise<Opened> {
  return { name: file.name, source: await openZipBlob(file) };
}

/** Opens the first dropped zip or folder. Call it in the event itself: the dropped items are gone afterwards. */
export async function openDropped({ items }: DataTransfer): Promise<Opened> {
  const item = [...items].find(({ kind }) => kind === "file");
  if (item === undefined) throw new Error("Drop a zip or a folder.");
  // after the first `await`, the item is empty
  const [entry, file] = [item.webkitGetAsEntry(), item.getAsFile()];
  const handle = await (item as Partial<HandleItem>).getAsFileSystemHandle?.();
  if (handle?.kind === "directory") {
    return { name: handle.name, source: new FileSystemStore(handle as FileSystemDirectoryHandle) };
  }
  if (entry?.isDirectory) {
    const files: [string, BlobLike][] = [];
    await collect(entry as FileSystemDirectoryEntry, "", files);
    return { name: entry.name, source: new FilesStore(files, `folder ${entry.name}`) };
  }
  if (file === null) throw new Error("Drop a zip or a folder.");
  return openZip(file);
}

/** A dropped item in Chromium. */
type HandleItem = DataTransferItem & { getAsFileSystemHandle(): Promise<FileSystemHandle | null> };

async function collect(
  folder: FileSystemDirectoryEntry,
  prefix: string,
  files: [string, BlobLike][],
): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    // returns the entries in batches, and an empty one at the end
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return;
    for (const entry of entries) {
      const key = prefix + entry.name;
      if (entry.isDirectory) await collect(entry as FileSystemDirectoryEntry, `${key}/`, files);
      else {
        const file = new Promise<File>((resolve, reject) =>
          (entry as FileSystemFileEntry).file(resolve, reject),
        );
        files.push([key, await file]);
      }
    }
  }
}
