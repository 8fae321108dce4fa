import type { Consumer } from '../../../api/wire.ts';

/** The variable of the lines that holds an API key of the account. */
export const keyVariable = 'TOCSIN_API_KEY';

const key = `-H "X-API-Key: $${keyVariable}"`;

/** Lines for a shell that read from the consumer's offset and store a new one, with what they do. */
export function consumerLines(
  base: string,
  topic: string,
  { name, offset }: Pick<Consumer, 'name' | 'offset'>,
): readonly (readonly [title: string, line: string])[] {
  const path = `${base}/api/topics/${topic}`;
  return [
    ['Read the next records', `curl ${key} '${path}/log?consumer=${name}'`],
    [
      'Follow the log, one record per line',
      `curl -N ${key} -H 'Accept: application/x-ndjson' '${path}/log?consumer=${name}&follow=true'`,
    ],
    [
      'Store the offset of what was processed',
      `curl -X PUT ${key} -H 'Content-Type: application/json' -d '{"offset": ${offset}}' '${path}/consumers/${name}'`,
    ],
  ];
}
