import { generate } from 'selfsigned';

/** Returns a certificate for the address and `localhost` with its key, both in PEM. */
export async function selfSigned(host: string): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: host },
          { type: 2, value: 'localhost' },
        ],
      },
    ],
  });
  return { cert, key };
}
