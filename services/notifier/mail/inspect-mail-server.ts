import { findingsOf, type Finding } from '@tocsin/shared/platform/finding.ts';
import { openTransport } from './smtp-mailer.ts';

/** Connects to the mail server and logs in without sending an email. */
export async function inspectMailServer(url: string | undefined): Promise<Finding[]> {
  const found = findingsOf('mail');
  if (url === undefined)
    return [found.warning('SMTP_URL is not set: emails are written to DATA_DIR/mail and not sent')];
  const transport = openTransport({ url, connections: 1 });
  const { host } = new URL(url);
  try {
    await transport.verify();
    return [found.ok(`${host} takes mails`)];
  } catch (error) {
    return [found.fault(`${host} is not usable (${(error as Error).message}): check SMTP_URL`)];
  } finally {
    transport.close();
  }
}
