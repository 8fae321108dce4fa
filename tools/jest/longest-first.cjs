const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest test files, about slowest first, those that wait between those that compute. Without timings of an
 * earlier run Jest starts with the largest files, and these would run last, alone.
 */
const longest = [
  'tests/installations/metrics.test.ts',
  'tests/installations/real-lines.test.ts',
  'tests/acceptance/sinks.test.ts',
  'tests/engines/account-export-memory.test.ts',
  'tests/acceptance/slow-clients.test.ts',
  'tests/acceptance/at-once.test.ts',
  'tests/installations/archive-restore.test.ts',
  'tests/acceptance/console.test.ts',
  'tests/acceptance/scheduled-messages.test.ts',
  'tests/installations/consumer-example.test.ts',
  'tests/installations/readme-session.test.ts',
  'tests/installations/ntfy-apprise.test.ts',
  'tests/installations/operator-commands.test.ts',
  'tests/installations/few-descriptors.test.ts',
  'tests/installations/slow-consumers.test.ts',
  'tests/installations/stream-restart.test.ts',
  'tests/installations/account-deletion-kill.test.ts',
  'tests/installations/account-deletion-traces.test.ts',
  'tests/installations/user-command.test.ts',
  'tests/acceptance/stream-ready.test.ts',
  'tests/acceptance/stream-ends-with-credential.test.ts',
  'tests/acceptance/bad-input-routes.test.ts',
  'tests/acceptance/sizes.test.ts',
  'tests/acceptance/stream-sessions.test.ts',
  'tests/installations/expiry.test.ts',
  'tests/acceptance/log-gaps.test.ts',
  'tests/acceptance/filtered-reading.test.ts',
  'tests/installations/store-away.test.ts',
  'tests/faults/outages.test.ts',
  'tests/faults/scheduled-kill.test.ts',
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
  'tests/faults/notifier-kill.test.ts',
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
const place = ({ path }) => {
  const at = longest.findIndex((file) => path.endsWith(`/${file}`));
  return at < 0 ? longest.length : at;
};

/** Orders test files: the slowest first, the others in Jest's order. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => place(one) - place(other));
  }
};
module.exports.longest = longest;
