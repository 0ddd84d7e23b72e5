/** What each command does, in a line: here, so that the overview loads no command. */
export const summaries = {
  info: "show an array, or each array of a group: shape, data type, chunks, codecs, sizes",
  tree: "draw the tree of a group: data type, shape and chunks of each array",
  copy: "copy an array or a group, byte for byte or with other codecs, chunks or format",
  rechunk: "write an array or a group with another chunk shape, within a memory budget",
  convert: "write an array or a group in another Zarr format",
  slice: "extract a part of an array or group as raw bytes, a NumPy file, JSON or Zarr",
  digest: "print the SHA-256 of the values of an array, or of each array of a group",
  diff: "show the differences between two arrays or groups: nodes, metadata, values",
  validate: "check an array or a group for errors, and repair what is certain",
  clean: "remove what killed runs have left at a target",
  completion: "print a script that completes commands and flags in bash, zsh or fish",
} as const;
