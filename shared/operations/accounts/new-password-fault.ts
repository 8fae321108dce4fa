import { createRequire } from 'node:module';
import type * as Language from '@zxcvbn-ts/language-common';
import { passwordFault } from '../../domain/accounts/account-rules.ts';

const require = createRequire(import.meta.url);
/** 49,000 passwords in lower case; loaded at the first use, because few processes need them. */
let common: ReadonlySet<string> | undefined;

function commonPasswords(): ReadonlySet<string> {
  const { dictionary } = require('@zxcvbn-ts/language-common') as typeof Language;
  return new Set(dictionary['passwords-common']);
}

/** Returns why a new password is invalid, or null. Refuses common passwords, also in upper case. */
export function newPasswordFault(password: string): string | null {
  common ??= commonPasswords();
  const isCommon = common.has(password.toLowerCase());
  return passwordFault(password) ?? (isCommon ? 'is too common; choose another one' : null);
}
