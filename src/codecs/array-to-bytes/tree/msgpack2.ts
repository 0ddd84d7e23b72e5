import type { CodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { readMsgpack } from "./msgpack/read.ts";
import { writeMsgpack } from "./msgpack/write.ts";
import { treeCodec } from "./tree-codec.ts";

/**
 * `msgpack2` of numcodecs: a chunk as one MessagePack list. Bytes are read as
 * `{"$binary": Base64}`. What JSON cannot hold is refused: extensions, and names that are no text. With `raw`, texts are taken as such all the same.
 */
export const createMsgpack2: CodecFactory = (configuration, context) => {
  const settings = new ConfigReader(configuration);
  settings.flag("raw", false);
  const options = {
    hasShortTexts: settings.flag("use_bin_type", true),
    hasSingleFloats: settings.flag("use_single_float", false),
  };
  return treeCodec(
    { name: "msgpack2", read: readMsgpack, write: (tree) => writeMsgpack(tree, options) },
    context,
  );
};
