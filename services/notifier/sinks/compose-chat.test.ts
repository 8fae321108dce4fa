import { describe, expect, test } from '@jest/globals';
import { newMessage } from '@tocsin/shared/testing/builders.ts';
import { chatMessageOf, composeChat, type ChatMessage } from './compose-chat.ts';

const message: ChatMessage = { title: 'Backups', text: 'Disk full', url: 'https://example.com/a?b=1&c=2' };

test('Slack gets a text for notifications and blocks', () => {
  expect(composeChat('slack', message)).toEqual({
    text: 'Backups: Disk full',
    blocks: [
      { type: 'section', text: { type: 'plain_text', text: 'Backups' } },
      { type: 'section', text: { type: 'plain_text', text: 'Disk full' } },
      { type: 'section', text: { type: 'mrkdwn', text: '<https://example.com/a?b=1&amp;c=2|Open>' } },
    ],
  });
});

test('Teams gets an Adaptive Card', () => {
  expect(composeChat('teams', message)).toMatchObject({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'Backups' }] },
            { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'Disk full' }] },
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Open', url: message.url }],
        },
      },
    ],
  });
});

test('Discord gets an embed', () => {
  expect(composeChat('discord', message)).toEqual({
    embeds: [{ title: 'Backups', description: 'Disk full', url: message.url }],
    allowed_mentions: { parse: [] },
  });
});

describe('a message that would mention everyone, or is long', () => {
  test('does not mention anyone', () => {
    const text = '<!channel> <@U1|x> @everyone **b** [l](https://x.example)';
    const slack = JSON.stringify(composeChat('slack', { ...message, text, url: 'x://a|b>c<!here>' }));
    expect(slack).not.toMatch(/<[!@]/);
    expect(slack).toContain('<x://a%7Cb&gt;c&lt;!here&gt;|Open>');
    const discord = JSON.stringify(composeChat('discord', { ...message, text }));
    expect(discord).toContain(String.raw`\\*\\*b\\*\\* \\[l\\]\\(`);
    expect(discord).toContain('"parse":[]');
  });

  test('stays within the limits', () => {
    for (const character of ['x', '&', '*', '😀']) {
      const text = character.repeat(4_000);
      const long = { title: character.repeat(250), text, url: `https://example.com/${'y'.repeat(2_000)}` };
      const slack = composeChat('slack', long) as { text: string; blocks: { text: { text: string } }[] };
      expect(Math.max(slack.text.length, ...slack.blocks.map((block) => block.text.text.length))).toBeLessThanOrEqual(
        3_000,
      );
      expect(JSON.stringify(slack).isWellFormed()).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(composeChat('teams', long)))).toBeLessThan(28_000);
      const { embeds } = composeChat('discord', long) as { embeds: { title: string; description: string }[] };
      expect(embeds[0]!.title.length).toBeLessThanOrEqual(256);
      expect(embeds[0]!.description.length).toBeLessThanOrEqual(4_096);
    }
  });

  test('has no link that a chat would refuse', () => {
    for (const kind of ['teams', 'discord'] as const)
      expect(JSON.stringify(composeChat(kind, { ...message, url: 'tel:110' }))).not.toContain('tel:110');
  });
});

test('a change says what happened', () => {
  const stored = { ...newMessage('topic', { title: 'Backups', message: 'Disk full' }), offset: 1, isEdited: true };
  const titleOf = (type: Parameters<typeof chatMessageOf>[0]['type'], given = {}) =>
    chatMessageOf({ type, message: { ...stored, ...given } as never }, 'alerts').title;
  expect(titleOf('message')).toBe('Backups');
  expect(titleOf('message_edited', { title: null })).toBe('Edited: alerts');
  const by = { at: 0, by: { kind: 'account', name: 'ada', accountId: null }, note: null };
  expect(titleOf('message_acknowledged', { acknowledgement: by })).toBe('Acknowledged by ada: Backups');
  expect(
    chatMessageOf({ type: 'message_deleted', message: { ...stored, message: '', title: null } as never }, 'a'),
  ).toEqual({
    title: 'Deleted: a',
    text: 'A message was deleted.',
    url: null,
  });
});
