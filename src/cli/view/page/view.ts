import type { ViewedArray, ViewedNode } from "../../../flows/view/describe-node.ts";
import { shellWord } from "../../../util/names.ts";
import { ChunkPanel } from "./chunk-panel.ts";
import { CommandPanel, nodeUrl } from "./commands.ts";
import { el, fill } from "./dom.ts";
import { Explorer } from "./explorer.ts";
import { getJson, Latest } from "./requests.ts";
import { shownOf } from "./shown.ts";
import { type ListedNode, Tree } from "./tree.ts";
import { sizeText } from "./words.ts";

interface Listing {
  readonly url: string;
  readonly version: string;
  readonly nodes: readonly ListedNode[];
  readonly isCut: boolean;
}

/** A part of the page that reads until it is stopped. */
export interface Panel {
  readonly root: HTMLElement;
  stop(): void;
}

export interface ViewOptions {
  /** Creates another panel for an array. */
  readonly panelOf?: (path: string, array: ViewedArray) => Panel;
}

/** Shows the view in an element. Returns a function that stops all reading. */
export function showView(root: HTMLElement, options: ViewOptions = {}): () => void {
  const view = new View(root, options);
  view.start().catch((error) => view.failAll(error));
  return () => view.stop();
}

class View {
  readonly #root: HTMLElement;
  readonly #options: ViewOptions;
  readonly #main = el("main", { tabindex: -1 });
  readonly #nav = el("details", { class: "nav", open: true });
  readonly #latest = new Latest();
  /** The parts that read for the current node. */
  #reading: readonly { stop(): void }[] = [];
  readonly #listing = new AbortController();

  constructor(root: HTMLElement, options: ViewOptions) {
    this.#root = root;
    this.#options = options;
  }

  stop(): void {
    this.#listing.abort();
    this.#latest.stop();
    for (const one of this.#reading) one.stop();
  }

  failAll(error: Error): void {
    if (this.#listing.signal.aborted) return;
    fill(this.#root, this.#main);
    this.#fail(error);
  }

  #fail({ message }: Error): void {
    fill(this.#main, el("p", { class: "failure", role: "alert" }, message));
  }

  async start(): Promise<void> {
    const nav = this.#nav;
    fill(this.#root, el("p", { class: "soft loading", role: "status" }, "reading the hierarchy …"));
    const listing = await getJson<Listing>("tree", {}, this.#listing.signal);
    const { url, nodes, isCut, version } = listing;
    const name = nodeName(url);
    document.title = `${name} – zarrflow view`;
    const wide = matchMedia("(min-width: 800px)");
    wide.onchange = () => {
      nav.open = wide.matches;
    };
    nav.open = wide.matches || nodes.length > 1;
    const tree = new Tree(nodes, name, (node) => {
      history.replaceState(null, "", `#${encodeURI(node.path)}`);
      if (!wide.matches && node.kind === "array") nav.open = false;
      this.#show(listing, node);
    });
    fill(
      nav,
      el("summary", {}, "Contents"),
      tree.root,
      isCut && el("p", { class: "soft" }, `The first ${nodes.length} nodes are listed.`),
    );
    fill(
      this.#root,
      el(
        "header",
        {},
        el("b", {}, "zarrflow view"),
        el("span", { class: "soft" }, url),
        el("span", { class: "soft version" }, version),
      ),
      el("nav", { "aria-label": "Contents" }, nav),
      this.#main,
    );
    const asked = decodeURI(location.hash.slice(1));
    tree.select(nodes.some(({ path }) => path === asked) && location.hash !== "" ? asked : firstOf(nodes));
  }

  #show({ url }: Listing, { path, error, kind }: ListedNode): void {
    for (const one of this.#reading) one.stop();
    this.#reading = [];
    this.#latest.run(
      async (signal) => {
        if (kind === "broken") throw new Error(error);
        const node = await getJson<ViewedNode>("node", { path }, signal);
        const { array } = node;
        const shown = shownOf(path, node);
        const at = shellWord(nodeUrl(url, path));
        const metadata = { name: "Metadata", command: `zarrflow ${array ? "info" : "tree"} ${at}` };
        const explorer = shown && new Explorer(shown, url, metadata);
        const chunks = array && new ChunkPanel(path, array);
        const panel = array && this.#options.panelOf?.(path, array);
        const commands = new CommandPanel();
        commands.show([metadata]);
        const text = `zarrflow slice ${at} --format json`;
        fill(
          this.#main,
          el("h1", {}, nodeName(nodeUrl(url, path))),
          el(
            "p",
            { class: "soft" },
            array ? `${array.dataType} (${array.shape.join(" × ")})` : node.image ? "image" : "group",
          ),
          el(
            "div",
            { class: "columns" },
            el(
              "div",
              {},
              explorer?.root,
              array &&
                !explorer &&
                el(
                  "section",
                  { class: "card" },
                  el(
                    "p",
                    {},
                    `Values of ${array.dataType} are not numbers, so they are not drawn. `,
                    el("code", {}, text),
                    " prints them.",
                  ),
                ),
            ),
            el("div", {}, panel?.root, chunks?.root, details(node), !explorer && commands.root),
          ),
        );
        this.#reading = [explorer, chunks, panel].filter((one) => one !== undefined);
        explorer?.start();
        chunks?.start();
      },
      (error) => this.#fail(error),
    );
  }
}

/** The path of the node to show first: an image, or the array with most items. */
function firstOf(nodes: readonly ListedNode[]): string {
  const isImage =
    nodes.some(({ path }) => path === "0") && nodes.every(({ path }) => /^(?:\d+|labels.*|)$/.test(path));
  if (isImage) return "";
  const items = ({ shape = [] }: ListedNode) =>
    shape.length === 0 ? 0 : shape.reduce((product, n) => product * n, 1);
  const arrays = nodes.filter(({ kind }) => kind === "array");
  return [...arrays].sort((a, b) => items(b) - items(a))[0]?.path ?? "";
}

function nodeName(url: string): string {
  return url.replace(/\?.*$/, "").split("/").filter(Boolean).at(-1) ?? url;
}

/** Characters of a text above which it scrolls in a box. */
const LONG = 300;

/** A panel with the metadata of a node. */
export function details({ array, image, attributes, findings, zarrFormat }: ViewedNode): HTMLElement {
  const rows: (readonly [string, string])[] = [["format", zarrFormat]];
  if (array) rows.push(...arrayRows(array));
  if (image)
    rows.push([
      "image",
      `${image.levels.length} levels, axes ${image.axes.map(({ name }) => name).join(" ")}`,
    ]);
  rows.push(...findings.map((finding) => ["warning", finding] as const));
  return el(
    "section",
    { class: "card", "aria-label": "Metadata" },
    el("h3", {}, "Metadata"),
    table(rows),
    attributes.length > 0 && el("h4", {}, "Attributes"),
    attributes.length > 0 && table(attributes),
  );
}

function arrayRows(array: ViewedArray): (readonly [string, string])[] {
  const { dataType, shape, chunkShape, innerChunkShape, dimensionNames, codecs, itemSize } = array;
  const named = shape.map((n, d) => [dimensionNames[d], n].filter((part) => part !== null).join(" "));
  const items = shape.reduce((product, n) => product * n, 1);
  const rows: (readonly [string, string | undefined])[] = [
    ["data type", dataType],
    ["shape", `(${named.join(", ")})`],
    ["size", itemSize === undefined ? undefined : `${sizeText(items * itemSize)} of items`],
    [innerChunkShape ? "shards" : "chunks", `(${chunkShape.join(", ")})`],
    ["chunks in a shard", innerChunkShape && `(${innerChunkShape.join(", ")})`],
    ["codecs", codecs.join(" + ")],
    ["fill value", array.fillValue],
    ["missing", array.missing.join(", ") || undefined],
    ["packed", array.packing],
  ];
  return rows.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  return el(
    "dl",
    {},
    ...rows.flatMap(([name, text]) => [
      el("dt", {}, name),
      el("dd", text.length > LONG ? { class: "long", tabindex: 0 } : {}, text),
    ]),
  );
}
