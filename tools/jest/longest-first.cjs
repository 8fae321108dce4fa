const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest test files, about slowest first. Without timings of an earlier run Jest starts with the largest files,
 * and these would run last, alone.
 */
const longest = [
  'tests/installations/metrics.test.ts',
  'tests/installations/real-lines.test.ts',
  'tests/acceptance/sinks.test.ts',
  'tests/engines/account-export-memory.test.ts',
  'tests/acceptance/slow-clients.test.ts',
  'tests/acceptance/at-once.test.ts',
  'tests/installations/archive-restore.test.ts',
  'tests/acceptance/console-pages.test.ts',
  'tests/acceptance/scheduled-messages.test.ts',
  'tests/installations/consumer-example.test.ts',
  'tests/installations/readme-session.test.ts',
  'tests/installations/ntfy-apprise.test.ts',
  'tests/installations/operator-commands.test.ts',
  'tests/installations/few-descriptors.test.ts',
  'tests/installations/restarts.test.ts',
  'tests/installations/account-deletion-kill.test.ts',
  'tests/installations/account-deletion-traces.test.ts',
  'tests/acceptance/bad-input-routes.test.ts',
  'tests/acceptance/sizes.test.ts',
  'tests/acceptance/stream-sessions.test.ts',
  'tests/faults/outages.test.ts',
  'tests/faults/scheduled-kill.test.ts',
  'tests/faults/consumer-stall.test.ts',
  'tests/faults/cluster-page.test.ts',
  'tests/faults/escalation-kill.test.ts',
  'tests/faults/sink-kill.test.ts',
  'tests/faults/popular-topic.test.ts',
  'tests/faults/full-redis.test.ts',
  'tests/faults/provider-outage.test.ts',
  'tests/faults/provider-faults.test.ts',
  'tests/faults/engines.test.ts',
  'tests/faults/kafka-broker-loss.test.ts',
  'tests/faults/many-topics.test.ts',
  'tests/faults/digest-kill.test.ts',
  'tests/faults/archive-kill.test.ts',
  'tests/faults/restored-cluster.test.ts',
  'tests/faults/retention-kill.test.ts',
  'tests/faults/kafka-security.test.ts',
  'tests/faults/mongo-stalled-failover.test.ts',
  'tests/faults/redis-failover.test.ts',
  'tests/faults/moving.test.ts',
  'tests/faults/kafka-event-log.test.ts',
  'tests/faults/ledger-removal.test.ts',
  'tests/faults/notifier-kill.test.ts',
  'tests/console/admin.test.ts',
  'tests/console/scheduled.test.ts',
  'tests/console/quality.test.ts',
  'tests/console/test-push.test.ts',
  'services/api/live/feed-memory.test.ts',
  'services/api/login-flood.test.ts',
  'services/notifier/push-retries.engines.test.ts',
  'services/notifier/start-notifier.engines.test.ts',
  'services/notifier/escalation/escalations.engines.test.ts',
  'services/notifier/sinks/failing-sinks.engines.test.ts',
  'services/notifier/digest/digests.engines.test.ts',
  'services/retention/lifecycle/lapse-teams.engines.test.ts',
  'services/retention/start-retention.engines.test.ts',
  'services/api/account-enumeration.engines.test.ts',
  'services/notifier/renotify.engines.test.ts',
  'services/api/http/rate-limit.engines.test.ts',
  'shared/drivers/cluster/mongo/messages/mongo-messages.test.ts',
  'shared/drivers/cluster/kafka/kafka-event-log.test.ts',
  'shared/drivers/cluster/bullmq/bullmq-job-queue.test.ts',
  'shared/drivers/cluster/redis/redis-bus.test.ts',
  'shared/drivers/cluster/kafka/kafka-event-log.faults.test.ts',
  'shared/drivers/embedded/jobs/sqlite-job-queue.test.ts',
];

/** Files that take 10 s or longer and mostly wait, the longest first. */
const waiting = [
  'tests/installations/expiry.test.ts',
  'tests/installations/store-away.test.ts',
  'tests/acceptance/log-gaps.test.ts',
  'tests/acceptance/filtered-reading.test.ts',
  'tests/acceptance/stream-ready.test.ts',
  'tests/acceptance/stream-ends-with-credential.test.ts',
  'tests/installations/protected-consumers.test.ts',
  'tests/installations/slow-consumers.test.ts',
  'tests/acceptance/registration-links.test.ts',
  'tests/engines/stream-ends-with-credential.test.ts',
  'tests/acceptance/log-leases.test.ts',
  'tests/acceptance/register.test.ts',
  'tests/acceptance/revoked-everywhere.test.ts',
  'tests/acceptance/topic-tokens.test.ts',
  'tests/acceptance/api-keys.test.ts',
];

/** The part of the other files that run before the last file that waits. */
const shareBefore = 2 / 3;

const named = (tests, files) => files.flatMap((file) => tests.filter(({ path }) => path.endsWith(`/${file}`)));

/** Orders test files, which Jest has sorted: those that wait run spread over the others, not all concurrently. */
const order = (sorted) => {
  const [first, waits] = [named(sorted, longest), named(sorted, waiting)];
  const listed = new Set([...first, ...waits]);
  const rest = sorted.filter((test) => !listed.has(test));
  const step = Math.ceil((rest.length * shareBefore) / (waits.length || 1));
  const spread = waits.flatMap((test, index) => [test, ...rest.slice(index * step, (index + 1) * step)]);
  return [...first, ...spread, ...rest.slice(waits.length * step)];
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return order(super.sort(tests));
  }
};
Object.assign(module.exports, { longest, waiting, order });
