import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printFigures } from '@tocsin/shared/testing/figures.ts';
import { findTraces } from '../support/find-traces.ts';
import { makeFullAccount } from '../support/full-account.ts';
import { Client, made, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

/** Published to the account's topic beyond what a full account has. */
const more = Number(process.env['TOCSIN_ERASED_MESSAGES'] ?? 0);
/** By one address, whose budget is 60 requests a minute. */
const publishesOfOne = 50;

/** Longer than an erasure looks for what comes late. */
const timeoutMs = 120_000;

/**
 * What holds the account's id for longer and nothing else of it: counters of publishes until the end of their window, a day at
 * most, the ids of finished jobs, for a day, and the audit log. Reports of the removal of expired messages hold names of topics for
 * 90 days; nothing of this account has expired.
 */
const holdsIdForLonger = /^(budgets|redis (budget|jobs)|doc_audit_entries|auditEntries)$/;

test(
  'of a deleted account no store holds its address, its name or its texts, and once its erasure has settled nothing but the audit log holds its id',
  async () => {
    const { owner, topic, texts } = await makeFullAccount(stack);
    for (let sent = 0; sent < more; sent += publishesOfOne) {
      const client = new Client();
      await Promise.all(
        Array.from({ length: publishesOfOne }, () => made(client.call('POST', `/${topic.name}`, { text: texts[0]! }))),
      );
    }
    const said = [owner.email, owner.user.username, owner.client.address, ...texts];
    let found = 0;
    for (const text of [owner.id, ...said]) {
      const places = await findTraces(testStack(), [text]);
      expect(places).not.toEqual([]);
      found += places.length;
    }
    const deletedAt = performance.now();
    expect((await owner.delete('/api/users/me', { password: owner.password })).status).toBe(204);
    await eventually(async () => expect(await findTraces(testStack(), said)).toEqual([]), {
      timeoutMs,
      intervalMs: 1_000,
    });
    await eventually(
      async () => {
        expect((await findTraces(testStack(), [owner.id])).filter((place) => !holdsIdForLonger.test(place))).toEqual(
          [],
        );
      },
      { timeoutMs, intervalMs: 1_000 },
    );
    printFigures('account erased', {
      row: 'T6',
      messages: texts.length + more,
      tracesBefore: found,
      tracesLeft: 0,
      settledMs: performance.now() - deletedAt,
    });
  },
  2 * timeoutMs + 60_000 + 20 * more,
);
