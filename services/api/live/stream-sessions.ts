import type { StreamSession } from '@tocsin/shared/domain/accounts/stream-session.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { streamSessions, withNames } from '@tocsin/shared/collections/stream-sessions.ts';
import type { Directory } from '../directory/directory.ts';

/** The lifetime of a session from its creation and from the end of its last stream. */
export const sessionSeconds = 300;

/** How often a session is extended while a stream is open on it. */
const holdMs = 60_000;
/** Concurrent extensions, so that thousands of writes do not delay others. */
const writesAtOnce = 20;

export interface StreamSessionsDeps {
  readonly documents: Documents;
  readonly directory: Pick<Directory, 'topic'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Extends the sessions of this node's open streams. Sessions are documents, so that any node serves them and they
 * survive this process: if a node dies, its sessions live as after the end of their streams, or a minute longer.
 */
export class StreamSessions {
  readonly #deps: StreamSessionsDeps;
  /** The number of this node's open streams by session. */
  readonly #held = new Map<string, number>();
  /** The pending write of each session: writes of one session are sequential. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(deps: StreamSessionsDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#holdAll(), holdMs).unref();
  }

  /** Marks a stream as open on the session until the returned function is called. */
  hold({ id }: Pick<StreamSession, 'id'>): () => void {
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    void this.#move(id);
    return () => {
      const count = this.#held.get(id)! - 1;
      if (count > 0) this.#held.set(id, count);
      else this.#held.delete(id);
      if (count === 0) void this.#move(id);
    };
  }

  /** Resolves when pending writes are done. Call it after the streams have ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#writing.values());
  }

  async #holdAll(): Promise<void> {
    const ids = [...this.#held.keys()];
    for (let at = 0; at < ids.length; at += writesAtOnce) {
      await Promise.all(
        ids
          .slice(at, at + writesAtOnce)
          .filter((id) => this.#held.has(id))
          .map((id) => this.#move(id)),
      );
    }
  }

  /** Never rejects: a failed extension is retried the next time. */
  #move(id: string): Promise<void> {
    const written = (this.#writing.get(id) ?? Promise.resolve())
      .then(() => this.#write(id))
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'could not extend a stream session, retrying'))
      .then(() => {
        if (this.#writing.get(id) === written) this.#writing.delete(id);
      });
    this.#writing.set(id, written);
    return written;
  }

  async #write(id: string): Promise<void> {
    const { documents, clock } = this.#deps;
    await retryStale(async () => {
      const session = await documents.get(streamSessions, id);
      if (session === null) return;
      // The session keeps its full lifetime until this node's next write, in case the node dies.
      const isHeld = this.#held.has(id);
      await documents.update(streamSessions, session, {
        expiresAt: clock() + sessionSeconds * 1_000 + (isHeld ? holdMs : 0),
        topics: withNames(session.topics, await this.#nameKeys(session)),
      });
    });
  }

  async #nameKeys(session: StreamSession): Promise<Map<string, string>> {
    const found = await Promise.all(session.topics.map(({ id }) => this.#deps.directory.topic(id).catch(() => null)));
    return new Map(found.flatMap((topic) => (topic === null ? [] : [[topic.id, topic.nameKey]])));
  }
}
