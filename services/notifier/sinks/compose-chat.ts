import type { RecordType } from '@tocsin/shared/domain/messages/log-record.ts';
import type { SinkKind } from '@tocsin/shared/domain/sinks/sink.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';

export type ChatKind = Exclude<SinkKind, 'webhook'>;

/** What a chat shows of a record. */
export interface ChatMessage {
  readonly title: string;
  readonly text: string;
  /** Where the title leads. */
  readonly url: string | null;
}

const changes: Readonly<Record<Exclude<RecordType, 'message'>, string>> = {
  message_edited: 'Edited',
  message_deleted: 'Deleted',
  message_acknowledged: 'Acknowledged',
  message_unacknowledged: 'Not acknowledged any more',
};

/** Returns the record as text. A deleted message has lost its title and text. */
export function chatMessageOf({ type, message }: Pick<TopicRecord, 'type' | 'message'>, topic: string): ChatMessage {
  const { title, message: text, click, acknowledgement } = message;
  const by = type === 'message_acknowledged' && acknowledgement?.by.name ? ` by ${acknowledgement.by.name}` : '';
  const change = type === 'message' ? '' : `${changes[type]}${by}: `;
  return { title: `${change}${title ?? topic}`, text: text === '' ? 'A message was deleted.' : text, url: click };
}

/** Returns the body of an incoming webhook. Texts are shown as they are: no markup and no mention takes effect. */
export function composeChat(kind: ChatKind, message: ChatMessage): object {
  return bodies[kind](message);
}

const bodies: Readonly<Record<ChatKind, (message: ChatMessage) => object>> = {
  slack: slackBody,
  teams: teamsBody,
  discord: discordBody,
};

/**
 * https://docs.slack.dev/reference/block-kit/blocks/section-block: a text has at most 3,000 characters. Slack's markup of
 * mentions and links begins with `<`.
 */
function slackBody({ title, text, url }: ChatMessage): object {
  const section = (type: 'plain_text' | 'mrkdwn', content: string) => ({
    type: 'section',
    text: { type, text: content },
  });
  const link = url === null ? null : `<${slackText(url).replaceAll('|', '%7C')}|Open>`;
  return {
    text: cut(slackText(`${title}: ${text}`), slackMax),
    blocks: [
      section('plain_text', cut(slackText(title), slackMax)),
      section('plain_text', cut(slackText(text), slackMax)),
      ...(link === null || link.length > slackMax ? [] : [section('mrkdwn', link)]),
    ],
  };
}

const slackMax = 3_000;

const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using: a message has at
 * most 28 KB. Text runs take no Markdown.
 */
function teamsBody({ title, text, url }: ChatMessage): object {
  const block = (run: object) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', ...run }] });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [block({ text: title, weight: 'Bolder' }), block({ text: cut(text, 4_000) })],
          ...(url !== null && /^https?:/i.test(url)
            ? { actions: [{ type: 'Action.OpenUrl', title: 'Open', url }] }
            : {}),
        },
      },
    ],
  };
}

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
function discordBody({ title, text, url }: ChatMessage): object {
  return {
    embeds: [
      {
        title: cut(discordText(title), 256),
        description: cut(discordText(text), 4_096),
        ...(url !== null && /^https?:/i.test(url) ? { url } : {}),
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

const discordText = (text: string): string => text.replaceAll(/[\\*_~`|>#[\]()-]/g, '\\$&');

/** Truncates a text to so many UTF-16 code units, at a code point and not after an escape. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text
    .slice(0, max - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/(\\|&[a-z]*)$/, '')}…`;
}
