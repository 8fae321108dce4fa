import { newAddress } from './stack.ts';

/** The page that a browser reached. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

const redirectsMax = 20;

/** The parts of a browser that a sign-in needs: it stores cookies by origin and path and follows redirects. */
export class Browser {
  readonly #jars = new Map<string, Map<string, Cookie>>();
  readonly #address = newAddress();
  /** The received `Set-Cookie` headers, in order. */
  readonly setCookies: string[] = [];

  /** Opens the URL and follows redirects up to the first page that `isReached` accepts or that does not redirect. */
  async open(
    address: string | URL,
    options: { method?: string; isReached?: (url: URL) => boolean } = {},
  ): Promise<Page> {
    let url = new URL(address);
    let method = options.method ?? 'GET';
    for (let redirects = 0; redirects < redirectsMax; redirects += 1) {
      if (options.isReached?.(url) === true) return { url, status: 0, text: '' };
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        headers: { Cookie: this.#cookiesFor(url), 'X-Forwarded-For': this.#address },
      });
      this.#keep(url, response.headers.getSetCookie());
      const location = response.headers.get('location');
      if (location === null) return { url, status: response.status, text: await response.text() };
      await response.arrayBuffer();
      url = new URL(location, url);
      method = 'GET';
    }
    throw new Error(`more than ${redirectsMax} redirects, at last to ${url.origin}${url.pathname}`);
  }

  forgetCookies(): void {
    this.#jars.clear();
  }

  #keep(url: URL, setCookies: readonly string[]): void {
    const jar = this.#jars.get(url.origin) ?? new Map<string, Cookie>();
    this.#jars.set(url.origin, jar);
    for (const header of setCookies) {
      this.setCookies.push(header);
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(header)!;
      const isOver = /;\s*max-age=0/i.test(header) || /;\s*expires=Thu, 01 Jan 1970/i.test(header);
      if (isOver) jar.delete(name!);
      else jar.set(name!, { value: value!, path: /;\s*path=([^;]*)/i.exec(header)?.[1] ?? '/' });
    }
  }

  #cookiesFor(url: URL): string {
    const jar = this.#jars.get(url.origin) ?? new Map<string, Cookie>();
    return [...jar]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }
}
