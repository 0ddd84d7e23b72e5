import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

interface File {
  readonly kind: "file";
  /** What is on the disk of it. */
  synced: Uint8Array;
}

interface Folder {
  readonly kind: "folder";
  /** The names in it, as programs see them, */
  readonly names: Map<string, File | Folder>;
  /** and those that are on the disk. */
  synced: ReadonlyMap<string, File | Folder>;
}

/** What a loss of power leaves of a folder: files and folders by their relative paths; folders have no bytes. */
export type Left = ReadonlyMap<string, Uint8Array | undefined>;

/** What a loss of power takes: all that was not synced; or the contents alone of what was not, which reads as zeros. */
export type Loss = "all that was not synced" | "contents that were not synced";

/**
 * A folder, and what of it is on the disk: the contents of a file since it was synced, names since their folder was. All
 * else may be lost with the power: POSIX promises no more.
 */
export class Disk {
  readonly #root: string;
  readonly #top: Folder = newFolder();
  readonly #open = new Map<number, File | Folder>();

  /** What is in the folder now is on the disk. */
  constructor(root: string) {
    this.#root = root;
    this.#adopt(root, this.#top);
  }

  has(path: unknown): path is string {
    return typeof path === "string" && `${path}/`.startsWith(`${this.#root}/`);
  }

  opened(path: string, fd: number): void {
    const there = path === this.#root ? this.#top : this.#at(path);
    this.#open.set(fd, there ?? this.#put(path, newFile()));
  }

  isOpen(fd: number): boolean {
    return this.#open.has(fd);
  }

  closed(fd: number): void {
    this.#open.delete(fd);
  }

  synced(fd: number): void {
    const node = this.#open.get(fd);
    if (node?.kind === "file") node.synced = readFileSync(`/proc/self/fd/${fd}`);
    else if (node) node.synced = new Map(node.names);
  }

  madeFolder(path: string): void {
    if (this.has(path) && this.#at(path) === undefined) {
      this.madeFolder(join(path, ".."));
      this.#put(path, newFolder());
    }
  }

  madeFile(path: string): void {
    this.#put(path, newFile());
  }

  linked(from: string, to: string): void {
    const node = this.#at(from);
    if (node) this.#put(to, node);
  }

  removed(path: string): void {
    this.#folderOf(path)?.names.delete(nameOf(path));
  }

  /** What a loss of power leaves now. */
  left(loss: Loss): Left {
    const left = new Map<string, Uint8Array | undefined>();
    const add = (path: string, node: File | Folder) => {
      if (node.kind === "file")
        left.set(path, loss.startsWith("all") ? node.synced : this.#padded(path, node.synced));
      else {
        if (path !== "") left.set(path, undefined);
        for (const [name, inner] of loss.startsWith("all") ? node.synced : node.names)
          add(path === "" ? name : `${path}/${name}`, inner);
      }
    };
    add("", this.#top);
    return left;
  }

  #padded(path: string, synced: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(lstatSync(join(this.#root, path)).size);
    bytes.set(synced.subarray(0, bytes.length));
    return bytes;
  }

  #adopt(path: string, folder: Folder): void {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const node = entry.isDirectory() ? newFolder() : newFile();
      folder.names.set(entry.name, node);
      const inner = join(path, entry.name);
      if (node.kind === "folder") this.#adopt(inner, node);
      else node.synced = readFileSync(inner);
    }
    folder.synced = new Map(folder.names);
  }

  #at(path: string): File | Folder | undefined {
    let node: File | Folder | undefined = this.#top;
    for (const name of relative(this.#root, path).split("/")) {
      node = node?.kind === "folder" ? node.names.get(name) : undefined;
    }
    return node;
  }

  #folderOf(path: string): Folder | undefined {
    const parent = join(path, "..");
    const node = parent === this.#root ? this.#top : this.#at(parent);
    return node?.kind === "folder" ? node : undefined;
  }

  #put<N extends File | Folder>(path: string, node: N): N {
    this.#folderOf(path)?.names.set(nameOf(path), node);
    return node;
  }
}

/** Makes a folder hold what a loss of power has left. */
export function restore(root: string, left: Left): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  for (const [path, bytes] of left) {
    if (bytes === undefined) mkdirSync(join(root, path), { recursive: true });
    else writeFileSync(join(root, path), bytes);
  }
}

function newFile(): File {
  return { kind: "file", synced: new Uint8Array() };
}

function newFolder(): Folder {
  return { kind: "folder", names: new Map(), synced: new Map() };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
