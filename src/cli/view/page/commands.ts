import type { Cut } from "../../../flows/view/read-numbers.ts";
import { shellWord } from "../../../util/names.ts";
import { el, fill } from "./dom.ts";
import type { Shown, ShownLevel } from "./shown.ts";

/** A command, and code, equivalent to a part of the page. */
export interface Equivalent {
  readonly name: string;
  readonly command: string;
  readonly code?: string;
}

/** The URL of a node below another. */
export function nodeUrl(base: string, path: string): string {
  if (path === "") return base;
  const [, place = "", query = ""] = /^([^?]*)(.*)$/.exec(base) ?? [];
  return `${place}${/[/:]$/.test(place) ? "" : "/"}${path}${query}`;
}

/** Returns the command and the code that read these cuts. Dimensions in `dropped` become single indices. */
export function sliceEquivalent(
  name: string,
  { base, shown, level }: { readonly base: string; readonly shown: Shown; readonly level: ShownLevel },
  cuts: readonly Cut[],
  dropped: readonly number[],
): Equivalent {
  const url = nodeUrl(base, level.path);
  const parts = cuts.map(({ start, step, count }, d) => {
    const stop = Math.min(level.shape[d] ?? 0, start + (count - 1) * step + 1);
    const isWhole = start === 0 && step === 1 && stop === level.shape[d];
    const ends = [start, stop, ...(step === 1 ? [] : [step])];
    const isIndex = dropped.includes(d);
    const range = isIndex ? `${start}` : ends.join(":");
    // a number of three or four digits could be taken for a year; `@` marks an index
    const mark = [start, stop].some((end) => end >= 100) ? "@" : "";
    return {
      name: shown.names[d] ?? "",
      isWhole,
      line: isWhole && !isIndex ? ":" : `${mark}${range}`,
      code: isIndex ? `${start}` : isWhole ? "null" : `[${ends.join(", ")}]`,
    };
  });
  const taken = parts.filter(({ isWhole }) => !isWhole);
  const { areNamed } = shown;
  const line = areNamed ? taken.map((part) => `${part.name}=${part.line}`) : parts.map((part) => part.line);
  const code = areNamed
    ? `{ ${taken.map((part) => `${memberName(part.name)}: ${part.code}`).join(", ")} }`
    : `[${parts.map((part) => part.code).join(", ")}]`;
  const flags = [
    ...(taken.length === 0 ? [] : ["--slice", shellWord(line.join(","))]),
    ...(shown.isDecoded ? ["--decode"] : []),
  ];
  return {
    name,
    command: ["zarrflow slice", shellWord(url), ...flags, "--format npy --output part.npy"].join(" "),
    code: [
      'import { slice } from "zarrflow";',
      "",
      `const part = slice(${[JSON.stringify(url), ...(taken.length === 0 ? [] : [code])].join(", ")});`,
      ...(shown.isDecoded
        ? ["// numbers as they are stored; formatSlice(part, format, { decode: true }) decodes them"]
        : []),
      "const { data, shape } = await part.read();",
    ].join("\n"),
  };
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A panel of commands and code to copy. */
export class CommandPanel {
  readonly root = el("section", { class: "card", "aria-label": "The same as commands and code" });

  show(equivalents: readonly Equivalent[]): void {
    fill(
      this.root,
      el("h3", {}, "The same as commands and code"),
      ...equivalents.flatMap(({ name, command, code }) => [
        el("h4", {}, name),
        copied(command, `${name}: command line`),
        code !== undefined && copied(code, `${name}: code`),
      ]),
    );
  }
}

function copied(text: string, name: string): HTMLElement {
  const button = el(
    "button",
    {
      type: "button",
      "aria-label": `Copy: ${name}`,
      async onclick() {
        await navigator.clipboard.writeText(text);
        fill(button, "Copied");
        setTimeout(() => fill(button, "Copy"), 1500);
      },
    },
    "Copy",
  );
  return el("div", { class: "copied" }, el("pre", {}, el("code", {}, text)), button);
}
