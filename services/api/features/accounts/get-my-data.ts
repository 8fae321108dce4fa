import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { hasScope, scopes } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { exportedUserSchema, toExportedUserJson } from '@tocsin/shared/wire/user.ts';
import { z } from 'zod';
import type { ExportOwner, ExportSection } from '../../export/export-section.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { streamText } from '../../http/stream-text.ts';
import { loadAccount } from './load-account.ts';

const dayMs = 86_400_000;

/** Items are sent in chunks of up to this length, to avoid a system call per item and long-lived strings. */
const pieceCharsMin = 4_096;

/**
 * `GET /api/users/me/data`: all data of the account as a file. Reads and sends page by page; each page is consistent in
 * itself, and the statistics at the end count the items in the file. A section for which an API key lacks a scope is
 * empty, and the metadata lists it with the missing scopes.
 */
export function getMyData(deps: Pick<ApiDeps, 'engine'>, sections: readonly ExportSection[]): Route {
  return route({
    id: 'getMyData',
    method: 'GET',
    path: '/api/users/me/data',
    summary: 'Download all data of the account',
    audience: 'account',
    description:
      'Each array also requires the read scope of its list. The arrays for which an API key lacks a scope are empty and ' +
      'listed in `export_metadata.omitted`.',
    scope: 'account:read',
    success: { status: 200, schema: schemaOf(sections), description: 'A JSON file' },
    handle: async (context) => {
      const user = await loadAccount(deps, context);
      const owner: ExportOwner = { caller: { ...context.account(), scopes: null }, now: context.now };
      await streamText(context, document(user, owner, { sections, omitted: omittedFor(context.account(), sections) }), {
        'Content-Disposition': `attachment; filename="tocsin-export-${user.id}.json"`,
      });
      return null;
    },
  });
}

const count = z.int().min(0);

/** A section that the file lacks, because the API key lacks these scopes. */
const omittedSchema = z.object({ category: z.string(), missing_scopes: z.array(z.enum(scopes)) });
type Omitted = z.infer<typeof omittedSchema>;

function omittedFor(caller: AccountCaller, sections: readonly ExportSection[]): Omitted[] {
  const granted = caller.scopes;
  if (granted === null) return [];
  return sections
    .map((section) => ({
      category: section.name,
      missing_scopes: section.scopes.filter((scope) => !hasScope(granted, scope)),
    }))
    .filter(({ missing_scopes: missing }) => missing.length > 0);
}

function schemaOf(sections: readonly ExportSection[]) {
  return z.object({
    export_metadata: z.object({
      exported_at: z.iso.datetime(),
      user_id: z.uuid(),
      data_categories: z.array(z.string()),
      /** Only for API keys that lack scopes. */
      omitted: z.array(omittedSchema).optional(),
    }),
    account: exportedUserSchema,
    ...Object.fromEntries(sections.map(({ name, schema }) => [name, z.array(schema)])),
    statistics: z.object({
      total_topics: count,
      total_messages: count,
      total_devices: count,
      total_subscriptions: count,
      total_api_keys: count,
      account_age_days: count,
    }),
  });
}

async function* document(
  user: User,
  owner: ExportOwner,
  { sections, omitted }: { readonly sections: readonly ExportSection[]; readonly omitted: readonly Omitted[] },
): AsyncGenerator<string, void> {
  const isOmitted = (name: string): boolean => omitted.some(({ category }) => category === name);
  const metadata = {
    exported_at: toIso(owner.now),
    user_id: user.id,
    data_categories: ['account', ...sections.map(({ name }) => name).filter((name) => !isOmitted(name))],
    ...(omitted.length === 0 ? {} : { omitted }),
  };
  yield `{"export_metadata":${JSON.stringify(metadata)},"account":${JSON.stringify(toExportedUserJson(user, owner.now))}`;
  const counts = new Map<string, number>();
  for (const { name, pages } of sections) {
    let items = 0;
    yield `,${JSON.stringify(name)}:[`;
    for await (const page of isOmitted(name) ? [] : pages(owner)) {
      let piece = '';
      for (const item of page) {
        piece += (items === 0 ? '' : ',') + JSON.stringify(item);
        items += 1;
        if (piece.length < pieceCharsMin) continue;
        yield piece;
        piece = '';
      }
      if (piece !== '') yield piece;
    }
    yield ']';
    counts.set(name, items);
  }
  yield `,"statistics":${JSON.stringify(statistics(user, owner.now, counts))}}`;
}

function statistics(user: User, now: number, counts: ReadonlyMap<string, number>) {
  const total = (name: string): number => counts.get(name) ?? 0;
  return {
    total_topics: total('topics'),
    total_messages: total('messages'),
    total_devices: total('devices'),
    total_subscriptions: total('subscriptions'),
    total_api_keys: total('api_keys'),
    account_age_days: Math.floor((now - user.createdAt) / dayMs),
  };
}
