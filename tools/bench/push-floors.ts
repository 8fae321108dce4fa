import http2, { type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import apn from '@parse/node-apn';
import Expo from 'expo-server-sdk';
import { initializeApp } from 'firebase-admin/app';
import { getMessaging } from 'firebase-admin/messaging';
import { Agent } from 'undici';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { apnsProviderToken } from '@tocsin/notifier/providers/apns-provider-token.ts';
import { fcmSimulatorCredential } from '@tocsin/notifier/providers/fcm-simulator-credential.ts';

/** Sends the same push to each token of a batch. Rejects unless the provider accepts all. */
export type SendAll = (tokens: readonly string[]) => Promise<unknown>;

const [messageId, topicId] = ['0198f5a0-0000-7000-8000-000000000001', '0198f5a0-0000-7000-8000-000000000002'];
const data = { message_id: messageId, topic: 'a-topic', topic_id: topicId };
const [title, body] = ['a topic', 'the pump stopped'];
const expiresAtSeconds = Math.floor(Date.now() / 1_000) + 3_600;
const isTrue = (value: boolean): void => {
  if (!value) throw new Error('The simulator rejected a push');
};

/** A common APNs library alone, used as its documentation shows. */
export function apnLibrary({ apns }: Pick<Config, 'apns'>): SendAll {
  const { hostname, port } = new URL(apns!.url!);
  const options = {
    clientCount: 2,
    token: { key: Buffer.from(apns!.key), keyId: apns!.keyId, teamId: apns!.teamId },
    production: true,
    address: hostname,
    port: Number(port),
    ca: [apns!.ca!],
    maxSessionMemory: 64,
  };
  const provider = new apn.MultiProvider(options as ConstructorParameters<typeof apn.MultiProvider>[0]);
  return async (tokens) => {
    const notification = new apn.Notification({
      alert: { title, body },
      topic: apns!.bundleId,
      pushType: 'alert',
      priority: 5,
      collapseId: messageId,
      expiry: expiresAtSeconds,
      payload: data,
    });
    isTrue((await provider.send(notification, [...tokens])).failed.length === 0);
  };
}

/**
 * Google's library alone, redirected to the simulator: it has a fixed address and writes a `:scheme` that servers
 * reject.
 */
export function firebaseLibrary({
  fcmServiceAccount,
  FCM_URL: url,
}: Pick<Config, 'fcmServiceAccount' | 'FCM_URL'>): SendAll {
  const connect = http2.connect;
  http2.connect = ((_authority: string, options: http2.ClientSessionOptions) => {
    const session = connect(url!, options);
    const request = session.request.bind(session);
    session.request = (headers, more) => request({ ...(headers as OutgoingHttpHeaders), ':scheme': 'http' }, more);
    return session;
  }) as typeof http2.connect;
  const credential = fcmSimulatorCredential(fcmServiceAccount!, Date.now);
  const messaging = getMessaging(initializeApp({ credential, projectId: fcmServiceAccount!.project_id }));
  return async (tokens) => {
    const android = { priority: 'normal', ttl: 3_600_000, notification: { tag: messageId } } as const;
    isTrue(
      (await messaging.sendEach(tokens.map((token) => ({ token, notification: { title, body }, data, android }))))
        .failureCount === 0,
    );
  };
}

/** Expo's library alone. */
export function expoLibrary({ EXPO_URL: origin }: Pick<Config, 'EXPO_URL'>): SendAll {
  const agent = new Agent().compose(
    (dispatch) => (options, handler) => dispatch({ ...options, origin: origin! }, handler),
  );
  const expo = new Expo({ httpAgent: agent });
  return async (tokens) => {
    const tickets = await expo.sendPushNotificationsAsync(
      tokens.map((to) => ({
        to,
        title,
        body,
        data,
        priority: 'normal',
        ttl: 3_600,
        collapseId: messageId,
        tag: messageId,
      })),
    );
    isTrue(tickets.every(({ status }) => status === 'ok'));
  };
}

/** Node's HTTP/2 alone: the minimum cost of any library. */
export async function bareHttp2(
  platform: 'ios' | 'android',
  { apns, fcmServiceAccount, FCM_URL }: Pick<Config, 'apns' | 'fcmServiceAccount' | 'FCM_URL'>,
): Promise<SendAll> {
  if (platform === 'ios') {
    const session = http2.connect(apns!.url!, { ca: [apns!.ca!], maxSessionMemory: 64 });
    const authorization = `bearer ${apnsProviderToken(apns!, Date.now)()}`;
    const payload = JSON.stringify({ aps: { alert: { title, body } }, ...data });
    const common = {
      authorization,
      'apns-topic': apns!.bundleId,
      'apns-push-type': 'alert',
      'apns-priority': '5',
      'apns-collapse-id': messageId,
    };
    return (tokens) =>
      Promise.all(tokens.map((token) => post(session, { ':path': `/3/device/${token}`, ...common }, payload)));
  }
  const session = http2.connect(FCM_URL!, { maxSessionMemory: 64 });
  const { access_token: accessToken } = await fcmSimulatorCredential(fcmServiceAccount!, Date.now).getAccessToken();
  const headers = {
    ':path': `/v1/projects/${fcmServiceAccount!.project_id}/messages:send`,
    authorization: `Bearer ${accessToken}`,
    'content-type': 'application/json',
  };
  return (tokens) =>
    Promise.all(
      tokens.map((token) =>
        post(session, headers, JSON.stringify({ message: { token, notification: { title, body }, data } })),
      ),
    );
}

function post(session: ClientHttp2Session, headers: OutgoingHttpHeaders, payload: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ...headers });
    let status: number | undefined;
    stream.on('response', (answer) => (status = answer[':status']));
    stream.on('end', () => (status === 200 ? resolve() : reject(new Error(`answered ${status}`))));
    stream.on('error', reject);
    stream.resume();
    stream.end(payload);
  });
}
