import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../built-package.ts";

/** A fenced block of a document or of a doc comment. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** Where its text begins in the file, from 1. */
  readonly line: number;
}

export interface Document {
  /** Path from the root of the repository. */
  readonly name: string;
  readonly blocks: readonly CodeBlock[];
}

const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/** All pages, and all sources with an `@example`. */
export function documents(): Document[] {
  const docs = namesIn("docs", ".md");
  const markdown = [...pages, ...docs].map((name) => ({ name, blocks: blocksOf(read(name)) }));
  const sources = namesIn("src", ".ts").map((name) => ({ name, blocks: examplesOf(read(name)) }));
  return [...markdown, ...sources.filter(({ blocks }) => blocks.length > 0)];
}

export function read(name: string): string {
  return readFileSync(join(root, name), "utf8");
}

function namesIn(folder: string, suffix: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => `${folder}/${name}`)
    .sort();
}

export function blocksOf(text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [i, line] of text.split("\n").entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (!fence) open?.lines.push(line);
    else if (open) {
      blocks.push({ language: open.language, line: open.line, text: open.lines.join("\n") });
      open = undefined;
    } else open = { language: fence[1]?.trim() ?? "", line: i + 2, lines: [] };
  }
  if (open) throw new Error(`the block at line ${open.line} is not closed`);
  return blocks;
}

/** The blocks of doc comments: lines that begin with ` * `, the star taken away, all others made empty. */
function examplesOf(text: string): CodeBlock[] {
  const lines = text.split("\n").map((line) => /^\s*\* ?(?!\/)(.*)$/.exec(line)?.[1] ?? "");
  return blocksOf(lines.join("\n"));
}

/** True for blocks that are modules of TypeScript. */
export function isModule({ language }: CodeBlock): boolean {
  return language === "ts";
}

/** File of a module in the folder of a `UserProject`. */
export function moduleName(document: string, { line }: CodeBlock): string {
  return `blocks/${document.replaceAll("/", "-").replace(/\.\w+$/, "")}-${line}.ts`;
}
