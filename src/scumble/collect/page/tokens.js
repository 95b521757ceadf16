// A code is exchanged for a token. What was blinded is kept first, so that an answer that is lost on the way costs nothing.

import { base64url } from "./answers.js";
import { blinded, bytesOf, fromText, issuerOf, number, unblinded } from "./blind.js";
import { post } from "./device.js";

/** That no token could be had at this moment. */
export class Later extends Error {
  constructor(after) {
    super("later");
    this.after = after;
  }
}

/** The token of a code in a period. */
export async function tokenFor(survey, period, code, device) {
  const issuer = await issuerOf(survey.issuer);
  const blinding = await keptBlinding(survey, period, code, device, issuer);
  const request = { v: 1, survey: survey.digest, code, blinded: base64url(blinding.blinded) };
  const reply = await post("tokens", JSON.stringify(request), "application/json");
  if (reply.later) throw new Later(reply.after);
  if (!reply.done) throw new Error(reply.why);
  const signature = await unblinded(issuer, blinding, fromText(reply.document.signature));
  return `${base64url(blinding.message)}.${base64url(signature)}`;
}

async function keptBlinding(survey, period, code, device, issuer) {
  const held = device.blinding(survey, period);
  if (held?.code === code) return { message: fromText(held.message), inverse: number(fromText(held.inverse)), blinded: fromText(held.blinded) };
  const made = await blinded(issuer, crypto.getRandomValues(new Uint8Array(32)));
  const inverse = base64url(bytesOf(made.inverse, made.blinded.length));
  device.keepBlinding(survey, period, { code, message: base64url(made.message), inverse, blinded: base64url(made.blinded) });
  return made;
}
