import { z } from 'zod';
import { validate } from '../../../http/validate.ts';
import { githubEvents, type EventText } from './github-events.ts';
import { cut, labelled, renderedMessage, type RenderedMessage } from './rendered-message.ts';

/** Fields of nearly every payload: https://docs.github.com/en/webhooks/webhook-events-and-payloads */
const commonSchema = z
  .object({
    action: z.string().nullish(),
    repository: z
      .object({ full_name: z.string().nullish(), name: z.string().nullish(), html_url: z.string().nullish() })
      .nullish(),
    organization: z.object({ login: z.string() }).nullish(),
    sender: z.object({ login: z.string() }).nullish(),
    zen: z.string().nullish(),
  })
  .refine(
    ({ repository, organization, sender, zen }) =>
      [repository, organization, sender, zen].some((part) => part !== undefined && part !== null),
    {
      error: 'is no webhook of GitHub: it has no repository, organization or sender',
    },
  );

type Common = z.output<typeof commonSchema>;

/** Truncates descriptions and comments, so that the event stays visible on a phone's screen. */
const bodyCodePoints = 2_000;

/**
 * Renders an event of a GitHub webhook. `eventName` is the header `X-GitHub-Event`; without it the payload's keys
 * identify the event. Other events show their name and action. Throws 422 if the payload lacks fields of its event.
 */
export function renderGithub(payload: object, eventName: string | undefined): RenderedMessage {
  const common = validate(commonSchema, payload);
  const name = eventName ?? nameByKeys(payload);
  const known = githubEvents.find((event) => event.name === name);
  const said = known === undefined ? unknownEvent(name, common) : known.say(validate(known.schema, payload));
  const repository = common.repository?.full_name ?? common.repository?.name ?? common.organization?.login;
  return renderedMessage({
    title: repository === undefined || repository === null ? said.title : `${said.title} (${repository})`,
    text: [
      [
        ...said.lines,
        labelled('Sender', common.sender?.login),
        labelled('Repository', common.repository?.html_url ?? repository),
      ],
      [said.body === undefined || said.body === null ? undefined : cut(said.body.trim(), bodyCodePoints)],
    ],
    priority: said.priority ?? 3,
    tags: ['github', name, said.outcome],
  });
}

function nameByKeys(payload: object): string {
  const found = githubEvents.find(({ keys }) => keys.length > 0 && keys.every((key) => Object.hasOwn(payload, key)));
  if (found !== undefined) return found.name;
  return 'action' in payload && payload.action === 'started' ? 'watch' : 'event';
}

function unknownEvent(name: string, { action }: Common): EventText {
  const words = [name, action]
    .filter((word) => word !== undefined && word !== null)
    .join(' ')
    .replaceAll('_', ' ');
  return { title: `🐙 ${words.charAt(0).toUpperCase()}${words.slice(1)}`, lines: [], outcome: action };
}
