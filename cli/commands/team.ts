import { AppError } from '@tocsin/shared/domain/errors.ts';
import { teamPeriodsOf } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import { reachesTier, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { describeMembers } from '@tocsin/shared/operations/teams/describe-members.ts';
import { removeTeam } from '@tocsin/shared/operations/teams/remove-team.ts';
import { setTeamActive } from '@tocsin/shared/operations/teams/set-team-active.ts';
import {
  countMembers,
  findMembers,
  findOwnedTeams,
  findTeam,
  findTeamByName,
  teams,
} from '@tocsin/shared/collections/teams.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { paginateIndex } from '@tocsin/shared/documents/paginate-index.ts';
import { toDeactivationJson, toTeamJson } from '@tocsin/shared/wire/team.ts';
import { Command } from 'commander';
import { finalCommand } from './final-command.ts';
import { findAccount } from '../operator/find-account.ts';
import { findEmails } from '../operator/find-emails.ts';
import { collect, withListOptions, type ListOptions } from '../options/list-options.ts';
import {
  operatorAudit,
  printObject,
  printRows,
  notifyNodes,
  withStore,
  type PrintOptions,
} from '../operator/operator-store.ts';
import { removalDeps } from '../operator/removal-deps.ts';
import { withJson } from '../options/with-json.ts';

/** `tocsin team …`: manages teams. Works with or without a running server. */
export function teamCommand(): Command {
  const team = new Command('team')
    .description('list, show, deactivate, reactivate and delete teams; works while a server runs')
    .addHelpText(
      'after',
      `
Examples:
  tocsin team list --deactivated
  tocsin team members pumps`,
    );
  return withJson(team, [
    list(),
    show(),
    members(),
    activity('deactivate', false),
    activity('reactivate', true),
    remove(),
  ]);
}

const teamArgument = ['<team>', 'name or ID of the team'] as const;

function list(): Command {
  return withListOptions(
    new Command('list').description('list teams by name, or the teams of an owner newest first'),
    'names',
  )
    .option('--owner <account>', 'only teams of this account (email address, username or ID)')
    .option('--deactivated', 'only deactivated ones')
    .action((options: PrintOptions & ListOptions & { owner?: string; deactivated?: true }) =>
      withStore(async (store, config) => {
        const { documents } = store;
        const pages =
          options.owner === undefined
            ? paginateIndex(documents, teams, {
                index: 'name',
                equals: {},
                valueOf: ({ name }) => name,
                next: (name) => name,
              })
            : ofOwner(documents, options.owner);
        const found = await collect(pages, options, {
          matches: ({ isActive, removal }) => removal === null && (options.deactivated === undefined || !isActive),
          textsOf: ({ name, displayName }) => [name, displayName],
        });
        printRows(
          await describe(store, config, found),
          (one) => [
            one.name,
            one.display_name,
            one.owner,
            `members: ${one.member_count}`,
            one.is_active ? 'active' : `deactivated, removed at ${one.removal_at}`,
          ],
          options,
        );
      }),
    );
}

async function* ofOwner(documents: OperatorStore['documents'], who: string): AsyncGenerator<Team[]> {
  yield await findOwnedTeams(documents, (await findAccount(documents, who)).id);
}

function show(): Command {
  return new Command('show')
    .description('print a team')
    .argument(...teamArgument)
    .action((which: string, options: PrintOptions) =>
      withStore(async (store, config) => print(store, config, { team: await load(store, which), options })),
    );
}

function members(): Command {
  return new Command('members')
    .description('list the members of a team, newest first')
    .argument(...teamArgument)
    .action((which: string, options: PrintOptions) =>
      withStore(async (store) => {
        const found = await findMembers(store.documents, (await load(store, which)).id);
        printRows(
          await describeMembers(store.documents, found),
          (one) => [one.email, one.username, one.role, one.joined_at, one.is_active ? 'active' : 'disabled'],
          options,
        );
      }),
    );
}

function activity(name: 'deactivate' | 'reactivate', isActive: boolean): Command {
  return new Command(name)
    .description(
      isActive
        ? 'reactivate a team with all its data; its owner must have the TEAM tier'
        : 'block publishing to and joining a team; its owner can reactivate it, and after TEAM_REMOVAL_DAYS it is removed',
    )
    .argument(...teamArgument)
    .action((which: string, options: PrintOptions) =>
      withStore(async (store, config) => {
        const found = await load(store, which);
        if (isActive) await requireTier(store, found);
        const team = await setTeamActive(store.documents, found.id, { isActive, now: systemClock() }, operatorAudit());
        await notifyNodes(store, { kind: 'team', teamId: team.id });
        await print(store, config, { team, options });
      }),
    );
}

/** Without the tier the next sweep would start the team's grace period again. */
async function requireTier({ documents }: OperatorStore, { ownerId }: Team): Promise<void> {
  const owner = await documents.get(users, ownerId);
  if (owner === null || !reachesTier(tierInForce(owner, systemClock()), 'TEAM')) {
    throw new AppError(
      'forbidden',
      `The team's owner, ${owner?.email ?? ownerId}, is below the TEAM tier: raise it with: tocsin user set-tier`,
    );
  }
}

function remove(): Command {
  return finalCommand(
    new Command('delete')
      .description('delete a team; its topics become private topics of the owner')
      .argument(...teamArgument),
  )
    .option('--delete-topics', 'also delete its topics')
    .action((which: string, options: PrintOptions & { deleteTopics?: true }) =>
      withStore(async (store, config) => {
        const { id, name } = await load(store, which);
        await removeTeam(
          removalDeps(store, config),
          id,
          options.deleteTopics === true ? 'erase' : 'convert',
          operatorAudit(),
        );
        printObject(
          { team: name, team_id: id, topics: options.deleteTopics === true ? 'deleted' : 'kept', message: 'Deleted' },
          options,
        );
      }),
    );
}

async function load({ documents }: OperatorStore, which: string): Promise<Team> {
  const team = await (isUuid(which)
    ? findTeam(documents, which.toLowerCase())
    : findTeamByName(documents, which.toLowerCase()));
  if (team === null) throw new AppError('not_found', 'Team not found');
  return team;
}

/** Returns the operator's view of the teams, in the given order. */
async function describe({ documents }: OperatorStore, config: Config, found: readonly Team[]) {
  const emails = await findEmails(
    documents,
    found.map(({ ownerId }) => ownerId),
  );
  return Promise.all(
    found.map(async (team) => ({
      ...toTeamJson(team, await countMembers(documents, team.id)),
      owner: emails.get(team.ownerId) ?? null,
      ...(team.isActive ? { deactivated_at: null, removal_at: null } : toDeactivationJson(team, teamPeriodsOf(config))),
    })),
  );
}

async function print(
  store: OperatorStore,
  config: Config,
  { team, options }: { team: Team; options: PrintOptions },
): Promise<void> {
  const [shown] = await describe(store, config, [team]);
  printObject(shown!, options);
}
