import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { Agent, buildConnector, request, type Dispatcher } from 'undici';
import type { SinkAttempt } from '@tocsin/shared/domain/sinks/sink.ts';
import { literalAddress, sinkUrlFault, type SinkPolicy } from '@tocsin/shared/platform/sink-urls.ts';
import { readRetryAfter } from '../providers/watched-agent.ts';

export interface SinkRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SinkClient {
  /** Resolves within the timeout, whatever the receiver does. */
  post(request: SinkRequest): Promise<SinkAttempt>;
  close(): Promise<void>;
}

/** Returns all addresses of a host, like `lookup` of node:dns. */
export type LookupAll = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface SinkClientOptions {
  readonly policy: SinkPolicy;
  readonly timeoutMs?: number;
  /** For tests with names that do not exist. */
  readonly lookup?: LookupAll;
  /** PEM certificates that are trusted instead of the public authorities, for tests. */
  readonly ca?: string;
}

/** The status says everything; a longer response ends the connection. */
const answerBytesMax = 65_536;

class AddressNotAllowed extends Error {}

/**
 * Sends the requests of sinks. Each connection resolves its host once and is made to one of the addresses that the
 * policy allows, so that a changed DNS record cannot lead elsewhere. Redirects are not followed.
 */
export function openSinkClient({
  policy,
  timeoutMs = 10_000,
  lookup = systemLookup,
  ca,
}: SinkClientOptions): SinkClient {
  const connect = buildConnector({
    timeout: timeoutMs,
    ...(ca === undefined ? {} : { ca }),
    lookup(host, options, callback) {
      lookup(host, { ...options, all: true }, (error, found) => {
        const allowed = error === null ? found.filter(({ address }) => policy.allowsAddress(address)) : [];
        const [first] = allowed;
        const failure = error ?? (first === undefined ? new AddressNotAllowed('address is not allowed') : null);
        if (failure !== null || first === undefined) callback(failure, []);
        else if (options.all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      });
    },
  });
  const agent = new Agent({
    connect(options, callback) {
      // No lookup happens for an address.
      const address = literalAddress(options.hostname);
      if (address === null || policy.allowsAddress(address)) connect(options, callback);
      else callback(new AddressNotAllowed('address is not allowed'), null);
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async post({ url, headers, body }) {
      const fault = sinkUrlFault(url, policy);
      if (fault !== null) return { kind: 'failure', reason: `the URL ${fault}` };
      const signal = AbortSignal.timeout(timeoutMs);
      let response: Dispatcher.ResponseData;
      try {
        response = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal });
      } catch (error) {
        return { kind: 'failure', reason: reasonOf(error) };
      }
      // The receiver has decided, whatever happens to the rest of the response. The signal ends it in time.
      await response.body.dump({ limit: answerBytesMax }).catch(() => undefined);
      const { statusCode: status, headers: answered } = response;
      return { kind: 'answer', status, retryAfterMs: readRetryAfter(answered['retry-after']) };
    },
    close: () => agent.destroy(),
  };
}

/** Returns a short text without addresses that a resolver found. */
function reasonOf(error: unknown): string {
  if (error instanceof AddressNotAllowed) return error.message;
  const { name, code } = error as { name?: string; code?: string };
  const timeouts = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'];
  if (name === 'TimeoutError' || (code !== undefined && timeouts.includes(code))) return 'timeout';
  return `connection failed${code === undefined ? '' : `: ${code}`}`;
}
