import type { FileHandle, FileWritable, FolderHandle } from "../../../src/stores/file-system.ts";

type Entry = FakeFolder | FakeFile;

/** When the last file was written. */
let clock = 0;

/** A folder as Chromium has it, in memory: names are handles, writing goes to a swap file that is listed. */
export class FakeFolder implements FolderHandle {
  readonly kind = "directory";
  readonly name: string;
  /** Fails calls by their name, as the browser does. */
  readonly failures: Map<string, string>;
  readonly #parent: FakeFolder | undefined;
  readonly #canMove: boolean;
  /** What lies at the name, while the folder is there. */
  entries = new Map<string, Entry>();

  constructor(
    name = "",
    { parent, canMove = true }: { parent?: FakeFolder | undefined; canMove?: boolean } = {},
  ) {
    this.name = name;
    this.#parent = parent;
    this.#canMove = canMove;
    this.failures = parent?.failures ?? new Map();
  }

  /** The folder that has this name now. */
  live(): FakeFolder {
    if (this.#parent === undefined) return this;
    const now = this.#parent.live().entries.get(this.name);
    if (now === undefined) throw fail("NotFoundError");
    if (now.kind !== "directory") throw fail("TypeMismatchError");
    return now;
  }

  async getDirectoryHandle(name: string, { create = false } = {}): Promise<FakeFolder> {
    const found = await this.#find(name, create, () => new FakeFolder(name, this.#below()));
    if (found.kind !== "directory") throw fail("TypeMismatchError");
    return found;
  }

  async getFileHandle(name: string, { create = false } = {}): Promise<FakeFile> {
    const found = await this.#find(name, create, () => new FakeFile(this, name, this.#canMove));
    if (found.kind !== "file") throw fail("TypeMismatchError");
    return found;
  }

  async removeEntry(name: string): Promise<void> {
    await turn();
    const { entries } = this.live();
    const found = entries.get(name);
    if (found === undefined) throw fail("NotFoundError");
    if (found.kind === "directory" && found.entries.size > 0) throw fail("InvalidModificationError");
    entries.delete(name);
  }

  async *values(): AsyncGenerator<Entry> {
    await turn();
    for (const entry of [...this.live().entries.values()].reverse()) yield entry;
  }

  throwIfFailing(call: string): void {
    const name = this.failures.get(call);
    if (name !== undefined) throw fail(name);
  }

  #below() {
    return { parent: this, canMove: this.#canMove };
  }

  async #find(name: string, create: boolean, make: () => Entry): Promise<Entry> {
    await turn();
    if (name === "" || /[/]/.test(name) || name === "." || name === "..") throw new TypeError("not allowed");
    const { entries } = this.live();
    const found = entries.get(name);
    if (found === undefined && !create) throw fail("NotFoundError");
    const entry = found ?? make();
    entries.set(name, entry);
    return entry;
  }
}

export class FakeFile implements FileHandle {
  readonly kind = "file";
  name: string;
  #folder: FakeFolder;
  #blob = new File([], "");
  readonly move?: (folder: FolderHandle, name: string) => Promise<void>;

  constructor(folder: FakeFolder, name: string, canMove: boolean) {
    this.name = name;
    this.#folder = folder;
    if (canMove) this.move = (to, newName) => this.#move(to as FakeFolder, newName);
  }

  async getFile(): Promise<File> {
    await turn();
    this.#folder.throwIfFailing("getFile");
    return this.#now().#blob;
  }

  async createWritable(): Promise<FileWritable> {
    await turn();
    this.#now();
    const { entries } = this.#folder.live();
    const swap = `${this.name}.crswap`;
    entries.set(swap, new FakeFile(this.#folder, swap, false));
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let isOpen = true;
    const assertOpen = () => {
      if (!isOpen) throw new TypeError("the stream is closed");
    };
    const end = () => {
      isOpen = false;
      entries.delete(swap);
    };
    return {
      write: async (bytes) => {
        await turn();
        assertOpen();
        this.#folder.throwIfFailing("write");
        if (!(bytes.buffer instanceof ArrayBuffer)) throw new TypeError("the memory is shared");
        parts.push(new Uint8Array(bytes));
      },
      close: async () => {
        await turn();
        assertOpen();
        this.#folder.throwIfFailing("close");
        end();
        const now = this.#now();
        now.#blob = new File(parts, this.name, { lastModified: ++clock });
      },
      abort: async () => {
        await turn();
        assertOpen();
        end();
      },
    };
  }

  async #move(to: FakeFolder, name: string): Promise<void> {
    await turn();
    const there = to.live().entries.get(name);
    if (there?.kind === "directory") throw fail("InvalidModificationError");
    const now = this.#now();
    this.#folder.live().entries.delete(this.name);
    to.live().entries.set(name, now);
    now.name = name;
    this.name = name;
    now.#folder = to;
  }

  #now(): FakeFile {
    const now = this.#folder.live().entries.get(this.name);
    if (now === undefined) throw fail("NotFoundError");
    if (now.kind !== "file") throw fail("TypeMismatchError");
    return now;
  }
}

/** All names below a folder, folders with `/`, in no order. */
export function namesBelow(folder: FakeFolder): string[] {
  return [...folder.entries].flatMap(([name, entry]) =>
    entry.kind === "file" ? [name] : [`${name}/`, ...namesBelow(entry).map((below) => `${name}/${below}`)],
  );
}

function fail(name: string): DOMException {
  return new DOMException(`the fake says ${name}`, name);
}

/** Calls of a browser end later, in an order of its own. */
async function turn(): Promise<void> {
  for (let i = Math.random() * 4; i > 0; i--) await undefined;
}
