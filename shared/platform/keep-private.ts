import { chmodSync, statSync } from 'node:fs';

/** The permissions of the group and of others. */
const foreignBits = 0o077;

/** Whether only the owner can access the file or directory. */
export const isPrivate = (path: string): boolean => (statSync(path).mode & foreignBits) === 0;

/**
 * Takes a file or directory from the group and others. Has no effect if it belongs to another user; `doctor` warns of
 * that.
 */
export function keepPrivate(path: string): void {
  try {
    if (!isPrivate(path)) chmodSync(path, statSync(path).mode & ~foreignBits);
  } catch {
    // Only its owner can change it, and Tocsin can use it anyway.
  }
}
