/** What stands in the place of a secret. */
const HIDDEN = "***";

/** A user's name and password in front of a host; what comes before it is no URL without `//`. */
const USER = /([a-z][\w+.-]+:\/{1,2})[^/?#\s"'\\<>]*@/gi;

/** Names of parameters whose values let others in, or help them to: of clouds, and as services mostly have them. */
const SECRETS = [
  String.raw`x-(?:amz|goog|ms|oss)-[\w-]+`,
  String.raw`(?:[\w.-]*[_.-])?(?:sig|signature|tokens?|secrets?|passwd|password|pwd|credentials?|auth|authorization)`,
  "(?:access|auth|id|refresh|session|security)token",
  String.raw`(?:[\w.-]*[_.-])?(?:api|access|account|secret|private|shared|subscription|awsaccess)?[_-]?key(?:[_-]?(?:id|pair-id))?`,
  "googleaccessid|key-pair-id|policy|jwt|sas",
].join("|");

/** A parameter after `?`, `&`, `;` or `#`, up to what ends it; its signs may be percent-encoded. */
const PARAMETER = new RegExp(String.raw`([?&;#]|%3f|%26)(${SECRETS})(=|%3d)[^&;#\s|'"<>)\\\x60]*`, "gi");

/** What a quick look finds in any text that may hold a secret. */
const SUSPICIOUS = /@|=|%3d/i;

/**
 * A text without the credentials that URLs in it hold: users in front of a host, and the values of parameters such as
 * `sig`, `token` and `X-Amz-Signature`.
 */
export function redact(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  return text.replace(USER, `$1${HIDDEN}@`).replace(PARAMETER, `$1$2$3${HIDDEN}`);
}

/** Whether a text names a user, or a parameter that is a secret. */
export function holdsCredentials(text: string): boolean {
  return redact(text) !== text;
}
