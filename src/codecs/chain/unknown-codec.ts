import { ZarrflowError } from "../../util/errors.ts";
import type { BytesToBytesCodec } from "../codec.ts";

/**
 * Stands for a codec that is not known where a document lets readers pass over it: chunks that are missing read as the
 * fill value all the same, and no other chunk is read or written.
 *
 * @param refusal what is wrong with the codec
 */
export function unknownCodec(refusal: ZarrflowError): BytesToBytesCodec {
  // An error of its own for each chunk, whose key and coords are filled in on the way up.
  const fail = (): never => {
    throw new ZarrflowError(refusal.code, refusal.reason, refusal.details, { cause: refusal });
  };
  return {
    kind: "bytes-to-bytes",
    name: refusal.details.codec ?? "",
    maxEncodedSize: (decodedSize) => decodedSize,
    encodeInto: fail,
    decodeInto: fail,
  };
}
