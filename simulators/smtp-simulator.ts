import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** An email as the server received it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The raw headers and body. */
  readonly raw: string;
}

export interface SmtpSimulator {
  /** For SMTP_URL. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Responds to the next recipients with these codes, one each, and then accepts emails again. */
  refuse(...codes: number[]): void;
  close(): Promise<void>;
}

/** A mail server on a free local port that stores emails and does not forward them. */
export async function startSmtpSimulator(): Promise<SmtpSimulator> {
  const mails: ReceivedMail[] = [];
  const refusals: number[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onRcptTo(_address, _session, answer) {
      const code = refusals.shift();
      answer(code === undefined ? null : Object.assign(new Error('refused by the test'), { responseCode: code }));
    },
    onData(stream, session, answer) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
        });
        answer(null);
      });
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refuse: (...codes) => void refusals.push(...codes),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
