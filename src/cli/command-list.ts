import type { Command, CommandDefinition } from "./parse-arguments.ts";

interface ListedCommand {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: CommandDefinition }>;
}

/** All commands. A module is loaded when its command is used, so the overview loads none. */
export const commandList: Readonly<Record<string, ListedCommand>> = {
  info: {
    summary: "show shape, data type, chunks, codecs and sizes of an array, or of each node of a group",
    load: () => import("./commands/info.ts"),
  },
  tree: {
    summary: "draw the tree of a group, with the data type, shape and chunks of each array",
    load: () => import("./commands/tree.ts"),
  },
  view: {
    summary: "show arrays as pictures, line plots and chunk maps on a local web page",
    load: () => import("./commands/view.ts"),
  },
  copy: {
    summary: "copy an array or group unchanged, or with other codecs, chunks or format",
    load: () => import("./commands/copy.ts"),
  },
  rechunk: {
    summary: "copy an array or group to another chunk shape, within a memory budget",
    load: () => import("./commands/rechunk.ts"),
  },
  convert: {
    summary: "copy an array or group to another Zarr format",
    load: () => import("./commands/convert.ts"),
  },
  slice: {
    summary: "extract part of an array or group as raw bytes, NumPy, a table, JSON or Zarr",
    load: () => import("./commands/slice.ts"),
  },
  serve: {
    summary: "serve an array or group over HTTP, transformed on the fly",
    load: () => import("./commands/serve.ts"),
  },
  append: {
    summary: "append an array or group to an existing one along a dimension",
    load: () => import("./commands/append.ts"),
  },
  pyramid: {
    summary: "build a multi-resolution pyramid of an image or geographic dataset",
    load: () => import("./commands/pyramid.ts"),
  },
  plan: {
    summary: "plan a copy, rechunk, convert or slice that many processes run together",
    load: () => import("./commands/plan.ts"),
  },
  run: {
    summary: "run one share of a plan, for example as a task of an array job",
    load: () => import("./commands/run.ts"),
  },
  finish: {
    summary: "publish the target of a plan once all its shares are done",
    load: async () => ({ command: (await import("./commands/run.ts")).finish }),
  },
  digest: {
    summary: "print the SHA-256 of the values of an array, or of each array in a group",
    load: () => import("./commands/digest.ts"),
  },
  diff: {
    summary: "compare the nodes, metadata, values and keys of two arrays or groups",
    load: () => import("./commands/diff.ts"),
  },
  validate: {
    summary: "check an array or group for errors, and fix those with a safe repair",
    load: () => import("./commands/validate.ts"),
  },
  clean: {
    summary: "remove what killed runs left at a target",
    load: () => import("./commands/clean.ts"),
  },
  completion: {
    summary: "print a completion script for bash, zsh or fish",
    load: async () => {
      const { completionOf } = await import("./commands/completion.ts");
      return { command: completionOf(loadCommands) };
    },
  },
};

export const commandNames: readonly string[] = Object.keys(commandList);

export function loadCommands(): Promise<(readonly [name: string, command: Command])[]> {
  return Promise.all(
    Object.entries(commandList).map(async ([name, listed]) => [name, await loadListed(listed)] as const),
  );
}

export async function loadListed({ summary, load }: ListedCommand): Promise<Command> {
  return { summary, ...(await load()).command };
}
