import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { findTraces } from '../support/find-traces.ts';
import { makeFullAccount } from '../support/full-account.ts';
import { Client, made, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

/** Messages published to the account's topic in addition to those of a full account. */
const more = Number(process.env['TOCSIN_ERASED_MESSAGES'] ?? 0);
/** Published from one address, whose rate limit is 60 requests per minute. */
const publishesOfOne = 50;

/** Longer than an erasure looks for late writes. */
const timeoutMs = 120_000;

/**
 * Places that keep only the account's ID for longer: publish counters until the end of their window, at most a day; IDs
 * of finished jobs, for a day; and the audit log. Reports of removed expired messages keep topic names for 90 days, but
 * no message of this account has expired.
 */
const holdsIdForLonger = /^(budgets|redis (budget|jobs)|doc_audit_entries|auditEntries)$/;

test(
  "after deletion no store contains the account's email, name or texts, and after the erasure only the audit log contains its ID",
  async () => {
    const { owner, topic, texts, waitingTexts } = await makeFullAccount(stack);
    for (let sent = 0; sent < more; sent += publishesOfOne) {
      const client = new Client();
      await Promise.all(
        Array.from({ length: publishesOfOne }, () => made(client.call('POST', `/${topic.name}`, { text: texts[0]! }))),
      );
    }
    const said = [owner.email, owner.user.username, owner.client.address, ...texts, ...waitingTexts];
    const search = () => findTraces(testStack(), [owner.id, ...said]);
    const before = await search();
    for (const places of before.values()) expect(places).not.toEqual([]);
    const deletedAt = performance.now();
    expect((await owner.delete('/api/users/me', { password: owner.password })).status).toBe(204);
    await eventually(
      async () => {
        const places = await search();
        expect(said.flatMap((text) => places.get(text)!)).toEqual([]);
        expect(places.get(owner.id)!.filter((place) => !holdsIdForLonger.test(place))).toEqual([]);
      },
      { timeoutMs, intervalMs: 2_000 },
    );
    printMeasurements('account erased', {
      row: 'T6',
      messages: texts.length + more,
      tracesBefore: before.values().toArray().flat().length,
      tracesLeft: 0,
      settledMs: performance.now() - deletedAt,
    });
  },
  timeoutMs + 60_000 + 20 * more,
);
