/** A secret with the header in which a program sends it. */
export interface Credential {
  readonly header: 'X-API-Key' | 'X-Topic-Token';
  readonly secret: string;
}

export type Snippets = readonly (readonly [language: string, line: string])[];

/** Lines that publish to the topic with this URL. */
export function publishSnippets(url: string, { header, secret }: Credential): Snippets {
  return [
    ['curl', `curl -H '${header}: ${secret}' -d 'It works' ${url}`],
    [
      'JavaScript',
      `await fetch('${url}', { method: 'POST', headers: { '${header}': '${secret}' }, body: 'It works' });`,
    ],
    [
      'Python',
      `from urllib.request import Request, urlopen; urlopen(Request('${url}', b'It works', {'${header}': '${secret}'}))`,
    ],
  ];
}

/** Lines that print what the URL returns. */
export function readSnippets(url: string, { header, secret }: Credential): Snippets {
  return [
    ['curl', `curl -H '${header}: ${secret}' ${url}`],
    ['JavaScript', `console.log(await (await fetch('${url}', { headers: { '${header}': '${secret}' } })).text());`],
    [
      'Python',
      `from urllib.request import Request, urlopen; print(urlopen(Request('${url}', None, {'${header}': '${secret}'})).read().decode())`,
    ],
  ];
}
