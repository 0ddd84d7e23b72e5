import { FileSystemStore } from "../../src/stores/file-system.ts";
import { type ZipPlace, zipInStore, zipIntoStream } from "../../src/stores/zip.ts";

/** Where a zip is built that the user takes away. */
export interface SavedZip {
  readonly target: ZipPlace;
  /** Hands over what was built; returns how, as a sentence. */
  finish(): Promise<string>;
  /** Removes what is left after a failure. */
  giveUp(): Promise<void>;
}

/** As browsers have it that let a page write to the disk. */
type Picker = (options: object) => Promise<FileSystemFileHandle & { remove?(): Promise<void> }>;

/** A file of the disk that the user chooses, where the browser has that; else one of the site, which is downloaded. */
export async function saveZip(name: string): Promise<SavedZip> {
  const picker = (globalThis as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  return picker ? onDisk(await picker({ suggestedName: name })) : inSite(name);
}

async function onDisk(file: Awaited<ReturnType<Picker>>): Promise<SavedZip> {
  const stream: WritableStream<Uint8Array> = await file.createWritable();
  return {
    target: zipIntoStream(stream, file.name),
    finish: async () => `Saved as ${file.name}.`,
    // the browser has made an empty file
    giveUp: async () => file.remove?.().catch(() => {}),
  };
}

async function inSite(name: string): Promise<SavedZip> {
  const store = new FileSystemStore(await navigator.storage.getDirectory());
  await store.delete(name);
  return {
    target: zipInStore(store, name),
    async finish() {
      const folder = await navigator.storage.getDirectory();
      const url = URL.createObjectURL(await (await folder.getFileHandle(name)).getFile());
      const link = Object.assign(document.createElement("a"), { href: url, download: name });
      link.click();
      // the file has to stay until the browser has copied it, which it does not tell
      addEventListener("pagehide", () => void store.delete(name), { once: true });
      return `Downloaded as ${name}.`;
    },
    giveUp: async () => store.delete(name),
  };
}
