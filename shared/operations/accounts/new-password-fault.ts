import { dictionary } from '@zxcvbn-ts/language-common';
import { passwordFault } from '../../domain/accounts/account-rules.ts';

/** 49,000 passwords in lower case; read at the first use, because few processes need them. */
let common: ReadonlySet<string> | undefined;

/** Returns why a new password is invalid, or null. Refuses common passwords, also in upper case. */
export function newPasswordFault(password: string): string | null {
  common ??= new Set(dictionary['passwords-common']);
  const isCommon = common.has(password.toLowerCase());
  return passwordFault(password) ?? (isCommon ? 'is too common; choose another one' : null);
}
