/** What each command does, in a line: here, so that the overview loads no command. */
export const summaries = {
  info: "tell what an array is, or each array of a group: shape, type, chunks, codecs, sizes",
  tree: "draw a group with all below it: type, shape and chunks of each array",
  copy: "copy an array, or a group with all below it, byte for byte or changed on the way",
  rechunk: "rewrite an array, or the arrays of a group, with another chunk shape, within a memory budget",
  convert: "write an array, or a group with all below it, in another format of Zarr",
  slice: "cut a part out of an array, as raw bytes, a NumPy file, JSON, or a smaller Zarr",
  digest: "print the SHA-256 of an array's values, or of each array of a group",
  diff: "tell what differs between two arrays or groups: nodes, metadata, values",
  validate: "look for what is wrong with an array, or a group with all below it",
  clean: "remove what runs that were killed have left at a target",
  completion: "print a script that completes commands and flags in bash, zsh or fish",
} as const;
