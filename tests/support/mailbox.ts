import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailKind } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { testStack, type TestStack } from './stack.ts';

/** The emails of the kind to the address, oldest first, as written by the stack (the shared one by default). */
export async function mailsTo(
  address: string,
  kind: MailKind,
  stack: Pick<TestStack, 'env' | 'emailDir'> = testStack(),
): Promise<string[]> {
  const folder = stack.emailDir ?? join(stack.env['DATA_DIR']!, 'mail');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const ofKind = names.filter((name) => name.endsWith('.eml') && name.includes(`-${kind}-`)).sort();
  const texts = await Promise.all(ofKind.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.filter((text) => text.includes(`<${address}>`));
}

/** The link in the count-th email of the kind to the address. Waits until it arrives. */
export async function mailedLink(address: string, kind: MailKind, count = 1): Promise<URL> {
  return eventually(async () => {
    const mail = (await mailsTo(address, kind))[count - 1];
    if (mail === undefined) throw new Error(`no mail ${count} of kind ${kind} to ${address} yet`);
    return new URL(/^X-Tocsin-Link: (\S+)\r$/m.exec(mail)![1]!);
  });
}
