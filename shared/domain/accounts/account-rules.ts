/** The limits of SMTP (RFC 5321 §4.5.3.1). */
const addressLengthMax = 254;
const localPartLengthMax = 64;

const localPartPattern = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const labelPattern = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/**
 * Whether the text is an email address by RFC 5321: a dot-string, `@` and a fully qualified domain.
 * Quoted local parts and address literals are rejected: no provider issues them, and many programs cannot handle them.
 */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const localPart = text.slice(0, Math.max(at, 0));
  if (text.length > addressLengthMax || localPart.length > localPartLengthMax || !localPartPattern.test(localPart))
    return false;
  const labels = text.slice(at + 1).split('.');
  return labels.length >= 2 && labels.every((label) => labelPattern.test(label)) && !/^\d+$/.test(labels.at(-1)!);
}

export const usernamePattern = /^[A-Za-z0-9_.-]{3,32}$/;

/** Whether the text is a valid username. The store checks whether it is taken. */
export function isUsername(text: string): boolean {
  return usernamePattern.test(text);
}

/** The key for the case-insensitive uniqueness of usernames. */
export function usernameKey(username: string): string {
  return username.toLowerCase();
}

export const passwordLengthMin = 8;
/** bcrypt ignores bytes beyond 72, so two longer passwords could open the same account. */
export const passwordBytesMax = 72;

/** Returns why a new password is invalid, or null. The minimum counts code points, the maximum UTF-8 bytes. */
export function passwordFault(password: string): string | null {
  if (!password.isWellFormed()) return 'must be valid Unicode';
  if ([...password].length < passwordLengthMin) return `must have at least ${passwordLengthMin} characters`;
  if (new TextEncoder().encode(password).length > passwordBytesMax)
    return `must have at most ${passwordBytesMax} bytes in UTF-8`;
  return null;
}
