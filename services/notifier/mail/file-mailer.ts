import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { createTransport } from 'nodemailer';
import { mailHeaders, type Mailer } from './mailer.ts';

/**
 * For installations without a mail server: writes each email atomically to `<folder>/<time>-<kind>-<random>.eml`, which
 * mail programs can open, and logs its link.
 */
export function openFileMailer(options: { folder: string; from: string; clock: Clock; log: Logger }): Mailer {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(kind, mail) {
      const { to, subject, text, html, link } = mail;
      // The body is folded and encoded, so a header contains the complete link for readers and for grep.
      const headers = {
        ...mailHeaders,
        ...(link === null ? {} : { 'X-Tocsin-Link': { prepared: true, value: link } }),
      };
      const { message } = await transport.sendMail({ from: options.from, to, subject, text, html, headers });
      await mkdir(options.folder, { recursive: true, mode: 0o700 });
      const time = new Date(options.clock()).toISOString().replaceAll(/[-:.]/g, '');
      const file = join(options.folder, `${time}-${kind}-${randomId().slice(0, 8)}.eml`);
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 });
      await rename(`${file}.part`, file);
      options.log.info({ kind, file, link }, 'email written to a file, because SMTP_URL is not set');
    },
    close: () => transport.close(),
  };
}
