import { describe, expect, it } from "vitest";
import { profileSettings } from "../../../src/stores/s3/profile.ts";

const config = `
# comment
[default]
region = eu-north-1
[profile science]
region=us-west-2
endpoint_url = http://127.0.0.1:9000
aws_access_key_id = from-config
[profile  spaced ]
region = x
`;
const credentials = `
[science]
aws_access_key_id = A
aws_secret_access_key = b=c/d
[profile science]
aws_session_token = not this one
[default]
aws_access_key_id = D
`;

describe("profileSettings", () => {
  it("takes a profile's settings by the names of the variables, the credentials file's first", () => {
    expect(profileSettings("science", { config, credentials })).toEqual({
      AWS_REGION: "us-west-2",
      AWS_ENDPOINT_URL: "http://127.0.0.1:9000",
      AWS_ACCESS_KEY_ID: "A",
      AWS_SECRET_ACCESS_KEY: "b=c/d",
    });
    expect(profileSettings("default", { config, credentials })).toEqual({
      AWS_REGION: "eu-north-1",
      AWS_ACCESS_KEY_ID: "D",
    });
  });

  it("knows blanks around names, and nothing of profiles that are not there", () => {
    expect(profileSettings("spaced", { config, credentials: "" })).toEqual({ AWS_REGION: "x" });
    expect(profileSettings("none", { config, credentials })).toBeUndefined();
    expect(
      profileSettings("constructor", { config: "[profile constructor]\n__proto__ = x", credentials }),
    ).toEqual({});
  });

  it("knows settings that only profiles have, and no nested ones", () => {
    const text =
      "[default]\ncredential_process = get it\ns3 =\n  endpoint_url = http://nested\nrole_arn = r\n";
    expect(profileSettings("default", { config: text, credentials: "" })).toEqual({
      credential_process: "get it",
      AWS_ROLE_ARN: "r",
    });
  });
});
