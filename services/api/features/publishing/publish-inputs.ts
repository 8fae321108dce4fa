import { messageLimits } from '@tocsin/shared/domain/message.ts';
import { z } from 'zod';
import type { OwnInput } from '../../http/route.ts';
import { priorityNames } from './message-fields.ts';
import { keyCharactersMax } from './reserve-key.ts';
import { templateNames } from './templates/render-template.ts';

const title = z.string().meta({ maxLength: messageLimits.titleCodePoints, examples: ['Backups'] });
const priority = z.enum(['1', '2', '3', '4', '5', ...priorityNames.keys()]).meta({ examples: ['4'] });
const tags = z.string().meta({ examples: ['db,ok'] });
const markdown = z.string().meta({ examples: ['true'] });
const text = z.string().meta({ minLength: 1, maxLength: messageLimits.textCodePoints });

const tagsRule = `Comma-separated; at most ${messageLimits.tags}, each of at most ${messageLimits.tagCodePoints} characters.`;

const template = z.enum(templateNames);

/** What publishing reads by itself, as the document tells it; `message-fields.ts` checks it. */
const headers = z.object({
  'X-Title': title.optional().describe('UTF-8, or RFC 2047 encoded words. Also `Title`, `t`.'),
  'X-Priority': priority.optional().describe('1 to 5 or a name, 3 by default. Also `Priority`, `prio`, `p`.'),
  'X-Tags': tags.optional().describe(`${tagsRule} Also \`Tags\`, \`Tag\`, \`ta\`.`),
  'X-Markdown': markdown.optional().describe('`true`, `yes` or `1`: clients may show the text as Markdown; it is stored as sent. Also `Markdown`, `md`.'),
  'X-Message': text.optional().describe('The text, where the body is empty; `\\n` is a line break. Also `Message`, `m`.'),
  'Idempotency-Key': z.string().min(1).max(keyCharactersMax).optional()
    .describe('Makes a retry safe: for 24 hours the same publisher, topic and key get the first result again, and nothing is published twice.'),
});

const query = z.object({
  title: title.optional().describe('As `X-Title`; also `t`. Headers win.'),
  priority: priority.optional().describe('As `X-Priority`; also `prio`, `p`.'),
  tags: tags.optional().describe('As `X-Tags`; also `tag`, `ta`.'),
  markdown: markdown.optional().describe('As `X-Markdown`; also `md`.'),
  message: text.optional().describe('As `X-Message`; also `m`.'),
});

/** The body is the text. */
export const textPublishInputs: OwnInput = {
  headers: headers.extend({ 'X-Template': template.optional().describe('The body is a webhook of this sender, and becomes a message. Also `Template`, `tpl`.') }),
  query: query.extend({ template: template.optional().describe('As `X-Template`; also `tpl`.') }),
  body: {
    contentTypes: ['text/plain', 'text/markdown'],
    schema: text.meta({ examples: ['Nightly backup finished'] }),
    description: `The text: 1 to ${messageLimits.textCodePoints} characters of UTF-8, stored as sent, whatever its content type.`,
  },
};

/** The body is JSON. */
export function jsonPublishInputs(schema: z.ZodType): OwnInput {
  return { headers, query, body: { contentTypes: ['application/json'], schema, description: 'Read as JSON whatever its content type.' } };
}

export const replayedHeader = { 'Idempotency-Replayed': '`true` when this is the first result under the same `Idempotency-Key` again.' };

export const publishErrors = {
  409: 'A publish under the same `Idempotency-Key` is in flight: try again in a moment.',
  429: 'A limit is reached: of the tier for the credential’s account, or of the address without one.',
  503: 'The outcome is not known, or a part is away: a retry under the same `Idempotency-Key` cannot publish twice.',
};
