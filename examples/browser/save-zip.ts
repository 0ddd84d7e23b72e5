import { FileSystemStore } from "../../src/stores/file-system.ts";
import { type ZipPlace, zipInStore, zipIntoStream } from "../../src/stores/zip.ts";

/** A zip being built for the user, and how to deliver it. */
export interface SavedZip {
  readonly target: ZipPlace;
  /** Delivers the zip; returns a sentence that says how. */
  finish(): Promise<string>;
  /** Removes leftovers after a failure. */
  giveUp(): Promise<void>;
}

/** The picker of browsers that let a page write to the disk. */
type Picker = (options: object) => Promise<FileSystemFileHandle & { remove?(): Promise<void> }>;

/** Builds the zip in a file that the user chooses if the browser supports it, otherwise in the site's folder for download. */
export async function saveZip(name: string): Promise<SavedZip> {
  const picker = (globalThis as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  return picker ? onDisk(await picker({ suggestedName: name })) : inSite(name);
}

async function onDisk(file: Awaited<ReturnType<Picker>>): Promise<SavedZip> {
  const stream: WritableStream<Uint8Array> = await file.createWritable();
  return {
    target: zipIntoStream(stream, file.name),
    finish: async () => `Saved as ${file.name}.`,
    // the browser has created an empty file
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
      // the file must stay until the browser has copied it, which it does not report
      addEventListener("pagehide", () => void store.delete(name), { once: true });
      return `Downloaded as ${name}.`;
    },
    giveUp: async () => store.delete(name),
  };
}
