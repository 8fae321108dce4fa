import type { TopicToken } from '../../../api/wire.ts';

interface Usable extends Pick<TopicToken, 'permissions'> {
  readonly token: string;
}

/** Lines that publish to the topic with the token or, if it only permits reading, print the topic's history. */
export function snippetsOf(url: string, { permissions, token }: Usable): readonly (readonly [string, string])[] {
  if (permissions.includes('write'))
    return [
      ['curl', `curl -H 'X-Topic-Token: ${token}' -d 'It works' ${url}`],
      [
        'JavaScript',
        `await fetch('${url}', { method: 'POST', headers: { 'X-Topic-Token': '${token}' }, body: 'It works' });`,
      ],
      [
        'Python',
        `from urllib.request import Request, urlopen; urlopen(Request('${url}', b'It works', {'X-Topic-Token': '${token}'}))`,
      ],
    ];
  return [
    ['curl', `curl -H 'X-Topic-Token: ${token}' ${url}/json`],
    [
      'JavaScript',
      `console.log(await (await fetch('${url}/json', { headers: { 'X-Topic-Token': '${token}' } })).text());`,
    ],
    [
      'Python',
      `from urllib.request import Request, urlopen; print(urlopen(Request('${url}/json', None, {'X-Topic-Token': '${token}'})).read().decode())`,
    ],
  ];
}
