import { Command, Option } from 'commander';
import { printObject, type PrintOptions } from '../../operator/operator-store.ts';
import { serverOf, withServerOptions, type ServerOptions } from '../../options/server-options.ts';
import { wholeNumber } from '../../options/whole-number.ts';
import { ask } from '../../server/server.ts';

interface CreateOptions extends PrintOptions, ServerOptions {
  readonly private?: true;
  readonly description?: string;
  readonly discoverable?: true;
  readonly retentionDays?: number;
  readonly team?: string;
}

/** `tocsin topic create`: creates a topic over HTTP as the logged-in account. */
export function createTopicCommand(): Command {
  return withServerOptions(new Command('create'))
    .description('create a topic of the logged-in account')
    .argument('<name>')
    .option('--private', 'only the owner, subscribers and topic tokens have access (default: public)')
    .option('--description <text>')
    .option('--discoverable', 'list the topic in the topic search')
    .addOption(
      new Option('--retention-days <number>', "limited by the owner's tier").argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .option('--team <id>', 'ID of the team that the topic belongs to')
    .action(async (name: string, options: CreateOptions) => {
      const body = {
        name,
        access_level: options.private === true ? 'private' : undefined,
        description: options.description,
        is_discoverable: options.discoverable,
        retention_days: options.retentionDays,
        team_id: options.team,
      };
      const answer = await ask(serverOf(options), '/api/topics', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const topic = (await answer.json()) as { id: string; name: string; access_level: string };
      printObject(
        options.json === true ? topic : { id: topic.id, name: topic.name, access_level: topic.access_level },
        options,
      );
    });
}
