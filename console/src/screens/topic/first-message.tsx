import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Topic } from '../../api/wire.ts';
import { CopyLine } from '../../parts/copy-line.tsx';
import { toastError } from '../../parts/toasts.tsx';

/** Shows how to publish the first message of a topic. */
export function FirstMessage({ topic }: { readonly topic: Topic }) {
  const [token, setToken] = useState<string | null>(null);
  const needsToken = topic.access_level === 'private' && token === null;
  const credential = token === null ? '' : `-H 'X-Topic-Token: ${token}' `;
  const createToken = async () => {
    try {
      const json = { name: 'First message', permissions: ['write'] };
      const path = `/api/topics/${encodeURIComponent(topic.name)}/access-tokens`;
      setToken((await call<{ token: string }>('POST', path, { json })).token);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <section class="first-message" aria-label="First message">
      <div class="waiting" aria-hidden="true" />
      <h2>Waiting for the first message</h2>
      {needsToken ? (
        <>
          <p class="soft">
            {topic.can_manage
              ? 'The topic is private. Create a token to publish from the command line, or use the box above.'
              : 'The topic is private. Publish with the box above or with a topic token of its owner.'}
          </p>
          {topic.can_manage && (
            <button type="button" class="button" onClick={() => void createToken()}>
              Create a token
            </button>
          )}
        </>
      ) : (
        <>
          <p class="soft">
            Run this in a terminal. The message appears here immediately.
            {token !== null && ' The token is shown only once.'}
          </p>
          <CopyLine
            text={`curl ${credential}-d 'It works' ${location.origin}/${topic.name}`}
            label="Copy the command"
          />
        </>
      )}
    </section>
  );
}
