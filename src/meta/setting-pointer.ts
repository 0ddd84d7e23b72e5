import { pointerTo } from "../util/json-pointer.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { isObject } from "./assert-json.ts";

/** Where a setting of a codec stands, or would stand, in the document that names the codec at `pointer`. */
export function settingPointer({ stated }: CodecConfig, pointer: string, setting: string): string {
  switch (stated?.zarrFormat) {
    case "v1":
      return isObject(stated.json) && isObject(stated.json.compression_opts)
        ? pointerTo("/compression_opts", setting)
        : "/compression_opts";
    case "v2":
      return pointerTo(pointer.replace(/\/id$/, ""), setting);
    case "v3-draft-2019":
    case "v3-draft-2020":
      return pointerTo(pointer.replace(/\/codec$/, "/configuration"), setting);
    default:
      return pointerTo(`${pointer}/configuration`, setting);
  }
}
