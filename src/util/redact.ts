/** What stands in the place of a secret. */
const HIDDEN = "***";

/** The start of a URL that has a host, as parsers of URLs read it: with slashes of both kinds, and as many as there are. */
const SCHEME = String.raw`(?<![\w+.-])(?!file:)[a-z][\w+.-]+:[\\/][\\/\t\r\n]*|\bfile:\/{1,2}`;

/** A user's name and password in front of a host; the password may hold what should be encoded there, such as a slash. */
const USER = new RegExp(
  String.raw`(${SCHEME})(?:[^/?#\s"'\\<>]*|[^/?#\s"'\\<>@:[]*:(?!:|\d*(?:[/?#]|$))\S{0,512})@`,
  "gi",
);

/** Names of parameters whose values let others in, or help them to: of clouds, and as services mostly have them. */
const SECRETS = [
  String.raw`x-(?:amz|goog|ms|oss)-[\w-]+`,
  String.raw`(?:[\w.-]*[_.-])?(?:sig|signature|tokens?|secrets?|passwd|password|passphrase|pass|pwd|pw|credentials?|auth|authorization|hmac)`,
  "(?:access|auth|id|refresh|session|security)token",
  String.raw`(?:[\w.-]*[_.-])?(?:api|access|account|secret|private|shared|subscription|awsaccess|awssecret)?[_-]?key(?:[_-]?(?:id|pair-id))?`,
  "googleaccessid|key-pair-id|policy|jwt|sas|hdnts|hdnea|code|bearer|ticket|sid|session(?:id)?",
].join("|");

/** A parameter after `?`, `&`, `;` or `#`, up to what ends it; its signs may be percent-encoded. */
const PARAMETER = new RegExp(
  String.raw`([?&;#]|%3f|%26)((?:\w+\[)?(?:${SECRETS})\]?)(=|%3d)[^&;#\s|'"<>)\\\x60]*`,
  "gi",
);

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
