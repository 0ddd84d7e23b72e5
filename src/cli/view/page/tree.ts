import { el, fill } from "./dom.ts";

export interface ListedNode {
  readonly path: string;
  readonly kind: "array" | "group" | "broken";
  readonly shape?: readonly number[];
  readonly error?: string;
}

interface Item {
  readonly node: ListedNode;
  readonly depth: number;
  readonly element: HTMLElement;
  readonly isParent: boolean;
  isOpen: boolean;
}

/** Number of nodes up to which all groups are open at first. */
const MAX_OPEN = 200;

/** The hierarchy, as a tree that the arrow keys navigate. */
export class Tree {
  readonly root = el("ul", {
    role: "tree",
    "aria-label": "Arrays and groups",
    onkeydown: (event: KeyboardEvent) => this.#press(event),
  });
  readonly #onSelect: (node: ListedNode) => void;
  #items: Item[] = [];
  #selected: string | undefined;

  constructor(nodes: readonly ListedNode[], name: string, onSelect: (node: ListedNode) => void) {
    this.#onSelect = onSelect;
    const parents = new Set(nodes.map(({ path }) => parentOf(path)));
    this.#items = nodes.map((node) => {
      const depth = node.path === "" ? 0 : node.path.split("/").length;
      const isParent = parents.has(node.path);
      const isOpen = isParent && (depth === 0 || nodes.length <= MAX_OPEN);
      const element = el(
        "li",
        {
          role: "treeitem",
          tabindex: -1,
          "aria-level": depth + 1,
          "aria-selected": "false",
          class: node.kind,
          title: node.error,
          onclick: () => {
            if (this.#selected === node.path) this.#toggle(node.path);
            this.select(node.path);
          },
        },
        el("span", { class: "twig", "aria-hidden": "true" }),
        el("span", { class: "name" }, node.path.split("/").at(-1) || name),
        el(
          "span",
          { class: "soft" },
          node.shape ? ` ${node.shape.join("×")}` : node.kind === "broken" ? " broken" : "",
        ),
      );
      element.style.setProperty("--depth", `${depth}`);
      return { node, depth, element, isParent, isOpen };
    });
    fill(this.root, ...this.#items.map(({ element }) => element));
    const [first] = this.#items;
    if (first) first.element.tabIndex = 0;
    this.#show();
  }

  /** Selects a node, and opens the groups above it. */
  select(path: string): void {
    const chosen = this.#items.find(({ node }) => node.path === path);
    if (chosen === undefined) return;
    for (const item of this.#items) {
      const isChosen = item === chosen;
      item.element.setAttribute("aria-selected", `${isChosen}`);
      item.element.tabIndex = isChosen ? 0 : -1;
      if (item.isParent && (item.node.path === "" || path.startsWith(`${item.node.path}/`)) && !isChosen)
        item.isOpen = true;
    }
    this.#show();
    if (this.#selected === path) return;
    this.#selected = path;
    this.#onSelect(chosen.node);
  }

  #toggle(path: string, isOpen?: boolean): void {
    const item = this.#items.find(({ node }) => node.path === path);
    if (!item?.isParent) return;
    item.isOpen = isOpen ?? !item.isOpen;
    this.#show();
  }

  #show(): void {
    let closed = Number.POSITIVE_INFINITY;
    for (const { element, depth, isParent, isOpen } of this.#items) {
      element.hidden = depth > closed;
      if (depth <= closed) closed = isParent && !isOpen ? depth : Number.POSITIVE_INFINITY;
      if (isParent) element.setAttribute("aria-expanded", `${isOpen}`);
    }
  }

  #press(event: KeyboardEvent): void {
    const seen = this.#items.filter(({ element }) => !element.hidden);
    const at = seen.findIndex(({ element }) => element === document.activeElement);
    const item = seen[at];
    if (item === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (to: Item | undefined) => {
      if (to === undefined) return;
      for (const { element } of seen) element.tabIndex = -1;
      to.element.tabIndex = 0;
      to.element.focus();
    };
    switch (event.key) {
      case "ArrowDown":
        go(seen[at + 1]);
        break;
      case "ArrowUp":
        go(seen[at - 1]);
        break;
      case "Home":
        go(seen[0]);
        break;
      case "End":
        go(seen.at(-1));
        break;
      case "ArrowRight":
        if (item.isParent && !item.isOpen) this.#toggle(item.node.path, true);
        else if (item.isParent) go(seen[at + 1]);
        break;
      case "ArrowLeft":
        if (item.isParent && item.isOpen) this.#toggle(item.node.path, false);
        else if (item.depth > 0) go(seen.find(({ node }) => node.path === parentOf(item.node.path)));
        break;
      case "Enter":
      case " ":
        this.select(item.node.path);
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}

function parentOf(path: string): string | undefined {
  if (path === "") return undefined;
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}
