import { ZarrflowError } from "../../../util/errors.ts";
import { JSON_VALUES, parseJson } from "../../../util/json-parse.ts";
import { writeJson } from "../../../util/json-write.ts";
import type { NestingCodecFactory } from "../../codec.ts";
import { ConfigReader } from "../../config-reader.ts";
import { readMsgpack } from "./msgpack/read.ts";
import { writeMsgpack } from "./msgpack/write.ts";
import { treeCodec } from "./tree-codec.ts";

/**
 * `json2` of numcodecs: a chunk as one JSON list. Writing honours the options `ensure_ascii`, `sort_keys` and
 * `allow_nan` and adds no white space. Reading accepts bare `NaN` and infinities.
 *
 * @throws `unsupported-codec` for an encoding other than UTF-8.
 */
export const createJson2: NestingCodecFactory = async (configuration, context) => {
  const settings = new ConfigReader(configuration);
  const encoding = settings.text("encoding", "utf-8");
  if (!/^(?:utf-?8|(?:us-)?ascii)$/i.test(encoding)) {
    throw new ZarrflowError("unsupported-codec", "JSON is read and written as UTF-8 only", {
      value: encoding,
    });
  }
  const options = {
    ascii: settings.flag("ensure_ascii", true) || /ascii/i.test(encoding),
    sortNames: settings.flag("sort_keys", true),
    nonFinite: settings.flag("allow_nan", true) ? "token" : "refuse",
  } as const;
  return treeCodec(
    {
      name: "json2",
      read: (bytes) => parseJson(bytes, JSON_VALUES),
      write: (tree) => new TextEncoder().encode(writeJson(tree, options)),
    },
    context,
  );
};

/**
 * `msgpack2` of numcodecs: a chunk as one MessagePack list. Bytes are read as `{"$binary": Base64}`. Data without a
 * JSON form are rejected: extensions, and names that are not text. `raw` is accepted, but texts are still read as
 * texts.
 */
export const createMsgpack2: NestingCodecFactory = async (configuration, context) => {
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
