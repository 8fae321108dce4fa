import { extrasLimits } from '@tocsin/shared/domain/messages/message-extras.ts';
import { messageLimits } from '@tocsin/shared/domain/messages/message.ts';
import { z } from 'zod';
import type { OwnInput } from '../../http/route.ts';
import { priorityNames } from './message-fields.ts';
import { keyCharactersMax } from './reserve-key.ts';
import { templateNames } from './templates/render-template.ts';

/** If empty, the text comes from `X-Message`. */
const text = z.string().meta({ maxLength: messageLimits.textCodePoints, examples: ['Nightly backup finished'] });

const titleRule = `At most ${messageLimits.titleCodePoints} characters of UTF-8, or RFC 2047 encoded words.`;
const priorityRule = `1 to 5, or ${[...priorityNames.keys()].map((name) => `\`${name}\``).join(', ')}; 3 by default.`;
const tagsRule = `Comma-separated; at most ${messageLimits.tags}, each of at most ${messageLimits.tagCodePoints} characters.`;

const clickRule = `The URL that a tap opens: absolute, at most ${extrasLimits.urlCharacters} characters, not \`javascript\`, \`data\`, \`vbscript\`, \`file\` or \`blob\`.`;
const actionsRule = `At most ${extrasLimits.actions} buttons, as ntfy's JSON array or short form. Kinds: \`view\`, \`http\`, \`ack\`; \`broadcast\` and \`copy\` are dropped.`;
const iconRule = `An \`https\` URL of at most ${extrasLimits.urlCharacters} characters. The server never fetches it.`;
const ttlRule = "How long the message lives: `30s` up to the topic's retention.";
const silentRule = '`true`, `yes` or `1`: pushed without sound, vibration or banner.';
const sequenceRule =
  'At most 128 of `A-Z a-z 0-9 . _ -`: a later publish with the same value by the same publisher replaces the content of the message.';
/** Of `delay`, for the OpenAPI document. */
export const delayRule =
  'Publishes the message later, 10 seconds to 30 days ahead: a duration such as `30m` or `2 days`, Unix seconds, an ISO 8601 time, or English such as `tomorrow, 10am`.';
export const timezoneRule = 'IANA time zone of a `delay` without an offset, by default UTC.';
export const publishedMeaning =
  'The message, durable and readable; with `delay`, durable and published at `scheduled_for`';

const said = (description: string, example: string) =>
  z
    .string()
    .optional()
    .meta({ description, examples: [example] });

/**
 * The inputs that publishing reads outside of the schemas, for the OpenAPI document; `message-fields.ts` validates
 * them. Only the source that takes precedence is validated, so the schemas here only say that values are strings.
 */
const headers = z.object({
  'X-Title': said(`${titleRule} Also \`Title\`, \`t\`.`, 'Backups'),
  'X-Priority': said(`${priorityRule} Also \`Priority\`, \`prio\`, \`p\`.`, '4'),
  'X-Tags': said(`${tagsRule} Also \`Tags\`, \`Tag\`, \`ta\`.`, 'db,ok'),
  'X-Markdown': said(
    '`true`, `yes` or `1`: clients may show the text as Markdown; it is stored as sent. Also `Markdown`, `md`.',
    'true',
  ),
  'X-Click': said(`${clickRule} Also \`Click\`.`, 'https://status.example.com/backups'),
  'X-Actions': said(
    `${actionsRule} Also \`Actions\`, \`Action\`.`,
    'view, Open report, https://status.example.com/backups/1204; ack, I have it',
  ),
  'X-Icon': said(`${iconRule} Also \`Icon\`.`, 'https://status.example.com/icon.png'),
  'X-TTL': said(`${ttlRule} Also \`TTL\`.`, '2h'),
  'X-Silent': said(`${silentRule} Also \`Silent\`.`, 'true'),
  'X-Sequence-ID': said(`${sequenceRule} Also \`Sequence-ID\`.`, 'backup-1204'),
  'X-Message': said(
    'The text if the body is empty; `\\n` is a line break. Also `Message`, `m`.',
    'Nightly backup finished',
  ),
  'X-Delay': said(`${delayRule} Also \`Delay\`, \`X-At\`, \`At\`, \`X-In\`, \`In\`.`, '30m'),
  'X-Timezone': said(`${timezoneRule} Also \`Timezone\`.`, 'Europe/Berlin'),
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(keyCharactersMax)
    .optional()
    .describe(
      'Makes a retry safe: for 24 hours the same publisher, topic and key get the first result, and nothing is published twice.',
    ),
});

const query = z.object({
  title: said('As `X-Title`; also `t`. Headers take precedence.', 'Backups'),
  priority: said('As `X-Priority`; also `prio`, `p`.', '4'),
  tags: said('As `X-Tags`; also `tag`, `ta`.', 'db,ok'),
  markdown: said('As `X-Markdown`; also `md`.', 'true'),
  click: said('As `X-Click`.', 'https://status.example.com/backups'),
  actions: said('As `X-Actions`; also `action`.', 'ack, I have it'),
  icon: said('As `X-Icon`.', 'https://status.example.com/icon.png'),
  ttl: said('As `X-TTL`.', '2h'),
  silent: said('As `X-Silent`.', 'true'),
  sequence_id: said('As `X-Sequence-ID`; also `sid`.', 'backup-1204'),
  message: said('As `X-Message`; also `m`.', 'Nightly backup finished'),
  delay: said('As `X-Delay`; also `at`, `in`.', '30m'),
  timezone: said('As `X-Timezone`.', 'Europe/Berlin'),
});

const templateRule = `The body is a webhook of this sender and is rendered as a message: ${templateNames.map((name) => `\`${name}\``).join(', ')}.`;

/** The body is the text. */
export const textPublishInputs: OwnInput = {
  headers: headers.extend({
    'X-Template': z.string().optional().describe(`${templateRule} Also \`Template\`, \`tpl\`.`),
  }),
  query: query.extend({ template: z.string().optional().describe('As `X-Template`; also `tpl`.') }),
  body: {
    contentTypes: ['text/plain', 'text/markdown'],
    schema: text,
    isOptional: true,
    description: `The text: 1 to ${messageLimits.textCodePoints} characters of UTF-8, stored unchanged for any content type.`,
  },
};

/** The body is JSON. */
export function jsonPublishInputs(schema: z.ZodType): OwnInput {
  return {
    headers,
    query,
    body: { contentTypes: ['application/json'], schema, description: 'Read as JSON for any content type.' },
  };
}

export const replayedHeader = {
  'Idempotency-Replayed': '`true` if this is the first result of the same `Idempotency-Key`.',
};

export const publishErrors = {
  403: 'No permission, or with `delay`, the limit of waiting messages is reached.',
  409: 'A publish with the same `Idempotency-Key` is in progress: retry shortly.',
  429: 'The rate limit of the account’s tier, or of the address without a credential, is reached.',
  503: 'The outcome is unknown, or a component is unavailable: a retry with the same `Idempotency-Key` cannot publish twice.',
};
