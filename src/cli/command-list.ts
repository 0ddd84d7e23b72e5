import type { Command, CommandDefinition } from "./parse-arguments.ts";

interface ListedCommand {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: CommandDefinition }>;
}

/** All commands. A module is loaded when its command is used, so the overview loads none. */
export const commandList: Readonly<Record<string, ListedCommand>> = {
  info: {
    summary: "show an array, or each node of a group: shape, data type, chunks, codecs, sizes, totals",
    load: () => import("./commands/info.ts"),
  },
  tree: {
    summary: "draw the tree of a group: data type, shape and chunks of each array",
    load: () => import("./commands/tree.ts"),
  },
  view: {
    summary: "show arrays as pictures, series and chunk maps, on a page of this machine",
    load: () => import("./commands/view.ts"),
  },
  copy: {
    summary: "copy an array or a group, byte for byte or with other codecs, chunks or format",
    load: () => import("./commands/copy.ts"),
  },
  rechunk: {
    summary: "write an array or a group with another chunk shape, within a memory budget",
    load: () => import("./commands/rechunk.ts"),
  },
  convert: {
    summary: "write an array or a group in another Zarr format",
    load: () => import("./commands/convert.ts"),
  },
  slice: {
    summary: "extract a part of an array or group as bytes, a NumPy file, a table, JSON or Zarr",
    load: () => import("./commands/slice.ts"),
  },
  serve: {
    summary: "serve an array or a group over HTTP, changed as it is read",
    load: () => import("./commands/serve.ts"),
  },
  append: {
    summary: "add arrays to those of an existing group along a dimension",
    load: () => import("./commands/append.ts"),
  },
  pyramid: {
    summary: "write an image or a geographic data set in several resolutions",
    load: () => import("./commands/pyramid.ts"),
  },
  plan: {
    summary: "write a plan of a copy, rechunk, convert or slice that many processes run together",
    load: () => import("./commands/plan.ts"),
  },
  run: {
    summary: "run a share of a plan, as one of the tasks of an array job",
    load: () => import("./commands/run.ts"),
  },
  finish: {
    summary: "publish the target of a plan when all its shares are done",
    load: () => import("./commands/finish.ts"),
  },
  digest: {
    summary: "print the SHA-256 of the values of an array, or of each array of a group",
    load: () => import("./commands/digest.ts"),
  },
  diff: {
    summary: "show the differences between two arrays or groups: nodes, metadata, values, keys",
    load: () => import("./commands/diff.ts"),
  },
  validate: {
    summary: "check an array or a group for errors, and repair what is certain",
    load: () => import("./commands/validate.ts"),
  },
  clean: {
    summary: "remove what killed runs have left at a target",
    load: () => import("./commands/clean.ts"),
  },
  completion: {
    summary: "print a script that completes commands and flags in bash, zsh or fish",
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
