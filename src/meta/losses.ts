import { ZarrflowError } from "../util/errors.ts";

/** What a format cannot hold of a node's metadata, gathered so that one error names all of it. */
export class Losses {
  readonly #allowed: readonly string[];
  readonly #refused: { readonly pointer: string; readonly reason: string; readonly mayBeAllowed: boolean }[] =
    [];

  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed;
  }

  /** Notes that what is at `pointer` would be lost; it may be allowed, and is then left out. */
  add(pointer: string, reason: string): void {
    const isAllowed = this.#allowed.some((one) => pointer === one || pointer.startsWith(`${one}/`));
    if (!isAllowed) this.#refused.push({ pointer, reason, mayBeAllowed: true });
  }

  /** Notes that the data cannot be read without what is at `pointer`. */
  require(pointer: string, reason: string): void {
    this.#refused.push({ pointer, reason, mayBeAllowed: false });
  }

  /** @throws `loss-refused` unless everything was allowed. */
  check(format: string, path: string): void {
    const [first] = this.#refused;
    if (first === undefined) return;
    const list = this.#refused.map(({ pointer, reason }) => `${pointer} (${reason})`).join(", ");
    throw new ZarrflowError("loss-refused", `${format} cannot represent ${list}`, {
      format,
      path,
      pointers: [...new Set(this.#refused.map(({ pointer }) => pointer))],
      hint: this.#refused.every(({ mayBeAllowed }) => mayBeAllowed)
        ? "List each pointer in `--allow-loss` (`allowLoss`), or choose a format that can represent it."
        : "The data cannot be read without it. Choose a format that can represent it, another codec, or, in a group, leave the array out (`--exclude`).",
    });
  }
}
