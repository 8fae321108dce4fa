/** RFC 5321 §4.5.3.1: what SMTP carries. */
const addressLengthMax = 254;
const localPartLengthMax = 64;

const localPartForm = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const labelForm = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/**
 * Whether the text is a mail address as RFC 5321 has them: a dot-string before the at sign and a fully qualified domain
 * after it. Quoted local parts and address literals are refused: no provider gives them out, many programs trip over them.
 */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const localPart = text.slice(0, Math.max(at, 0));
  if (text.length > addressLengthMax || localPart.length > localPartLengthMax || !localPartForm.test(localPart))
    return false;
  const labels = text.slice(at + 1).split('.');
  return labels.length >= 2 && labels.every((label) => labelForm.test(label)) && !/^\d+$/.test(labels.at(-1)!);
}

export const usernameForm = /^[A-Za-z0-9_.-]{3,32}$/;

/** Whether the text can be a username; whether it is free is the store's matter. */
export function isUsername(text: string): boolean {
  return usernameForm.test(text);
}

/** The form in which usernames are unique: case does not count. */
export function usernameKey(username: string): string {
  return username.toLowerCase();
}

export const passwordLengthMin = 8;
/** bcrypt reads no further; a longer password would be cut without a word, and two of them could open one account. */
export const passwordBytesMax = 72;

/** What is wrong with a new password, or null. Length is counted in code points, the maximum in bytes of UTF-8. */
export function passwordFault(password: string): string | null {
  if (!password.isWellFormed()) return 'must be valid Unicode';
  if ([...password].length < passwordLengthMin) return `must have at least ${passwordLengthMin} characters`;
  if (new TextEncoder().encode(password).length > passwordBytesMax)
    return `must have at most ${passwordBytesMax} bytes in UTF-8`;
  return null;
}
