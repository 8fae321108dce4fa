import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { randomId } from '@tocsin/shared/platform/ids.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { createTransport } from 'nodemailer';
import { mailHeaders, type Mailer } from './mailer.ts';

/**
 * For an installation without a mail server: writes each mail to `<folder>/<time>-<kind>-<random>.eml`, which mail
 * programs open, and logs its link, so that whoever runs it can go on. A file appears whole or not at all.
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
      // The body's lines are folded and encoded; the link stands whole in a header too, to be found by eye and by grep.
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
      options.log.info({ kind, file, link }, 'a mail was written to a file: no SMTP_URL is set');
    },
    close: () => transport.close(),
  };
}
