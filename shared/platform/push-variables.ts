import { z } from 'zod';
import { splitList } from './split-list.ts';
import { flag, httpUrl, variableDocs } from './variable-types.ts';

/** The variables of push providers. */
export const push = {
  APNS_KEY_FILE: z.string().optional().register(variableDocs, {
    description: '`.p8` key from Apple with its IDs. These and the next variable enable pushes to `ios` devices',
  }),
  APNS_KEY_ID: z.string().optional().register(variableDocs, {
    description: '',
  }),
  APNS_TEAM_ID: z.string().optional().register(variableDocs, {
    description: '',
  }),
  APNS_BUNDLE_ID: z.string().optional().register(variableDocs, {
    description: 'bundle ID of the app',
  }),
  APNS_URL: httpUrl.optional().register(variableDocs, {
    description: 'APNs URL: `https://api.sandbox.push.apple.com` for apps in development, or a simulator',
    defaultText: `Apple's own`,
  }),
  APNS_CA_FILE: z.string().optional().register(variableDocs, {
    description: `PEM certificate of the authority of a simulator's certificate`,
  }),
  APNS_CRITICAL: flag.default(false).register(variableDocs, {
    description:
      "`on` if the app has Apple's entitlement for [critical alerts](mobile.md#entitlements-on-ios), also through Expo",
  }),
  FCM_SERVICE_ACCOUNT_FILE: z.string().optional().register(variableDocs, {
    description: 'service account key in JSON from the Firebase console. Enables pushes to `android` devices',
  }),
  FCM_URL: httpUrl.optional().register(variableDocs, {
    description: 'FCM simulator; access tokens then come from the `token_uri` of the service account',
    defaultText: `Google's own`,
  }),
  EXPO_ACCESS_TOKEN: z.string().optional().register(variableDocs, {
    description: 'access token of Expo projects with enhanced push security',
    isSecret: true,
  }),
  EXPO_URL: httpUrl.optional().register(variableDocs, {
    description: 'Expo push API, for tests',
    defaultText: `Expo's own`,
  }),
  VAPID_PUBLIC_KEY: z.string().optional().register(variableDocs, {
    description: 'enables pushes to browsers. The API needs only the public key',
    defaultText: 'embedded: generated and stored',
  }),
  VAPID_PRIVATE_KEY: z.string().optional().register(variableDocs, {
    description: '',
    isSecret: true,
  }),
  VAPID_SUBJECT: z
    .string()
    .regex(/^(mailto:\S+@\S+|https:\/\/\S+)$/, 'must be a mailto: or https: address')
    .optional()
    .register(variableDocs, {
      description: '`mailto:` or `https:` address of the operator',
      defaultText: '`BASE_URL` with https, or the address of `MAIL_FROM`',
    }),
  WEB_PUSH_HOSTS: z
    .string()
    .transform((text) => splitList(text.toLowerCase()))
    .refine(
      (hosts) => hosts.every((host) => /^(\*\.)?[a-z0-9.-]+(:\d+)?$/.test(host)),
      'must be comma-separated hosts: push.example.org, push.example.org:8443 or *.push.example.org',
    )
    .optional()
    .register(variableDocs, {
      description: 'additional push services, comma-separated: `host`, `host:port` or `*.domain`',
    }),
  WEB_PUSH_CA_FILE: z.string().optional().register(variableDocs, {
    description: 'PEM certificate of an additional authority',
  }),
  EXPO_RECEIPT_SECONDS: z.coerce.number().min(0.1).max(43_200).default(900).register(variableDocs, {
    description: 'delay before push receipts are first fetched from Expo, which keeps them for a day',
  }),
  PUSH_RETRY_SECONDS: z.coerce.number().min(0).max(86_400).default(3_600).register(variableDocs, {
    description:
      'how long a push is retried before it becomes a [dead letter](operations.md#undelivered-pushes), at most 86,400',
  }),
};
