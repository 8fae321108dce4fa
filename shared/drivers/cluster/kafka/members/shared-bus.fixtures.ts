import { openLogger } from '../../../../platform/logger.ts';
import type { PubSub } from '../../../../ports/bus/pub-sub.ts';
import { ChannelListeners } from '../../../channel-listeners.ts';

export type Connection = Pick<PubSub, 'publish' | 'subscribe'> & {
  /** While false, nothing is sent or received. */
  isConnected: boolean;
};

/** A bus in memory; each connection can be lost. */
export function sharedBus(): { connect(): Connection } {
  const listeners = new ChannelListeners(openLogger('test', 'silent'));
  return {
    connect: () => {
      const connection: Connection = {
        isConnected: true,
        publish: (channel, payloads) => {
          if (connection.isConnected) for (const payload of payloads) listeners.deliver(channel, payload);
          return Promise.resolve();
        },
        subscribe: (channel, receive) => {
          const listener = listeners.add(channel, (payload) => {
            if (connection.isConnected) receive(payload);
          });
          return Promise.resolve({ close: () => Promise.resolve(void listeners.remove(listener)) });
        },
      };
      return connection;
    },
  };
}
