/**
 * Long test files of code that uses the engine only through its ports: the parsing of requests, accounts, pushes to
 * providers, commands, clients and pages. Both engines pass the contracts of the ports, so these files run on the
 * embedded engine only. A file whose subject is concurrency, time, an outage or the data of an engine runs on both.
 */
export const embeddedOnly: ReadonlySet<string> = new Set([
  'services/api/account-enumeration.engines.test.ts', // counts the calls of the ports
  'services/notifier/jobs/read-receipts.engines.test.ts',
  'services/notifier/push-credentials.engines.test.ts',
  'services/notifier/push-filters.engines.test.ts',
  'services/notifier/push-providers.engines.test.ts',
  'services/notifier/renotify.engines.test.ts',
  'services/notifier/sending/hold-back.engines.test.ts',
  'services/notifier/unread-badges.engines.test.ts',
  'services/retention/lifecycle/lapse-teams.engines.test.ts',
  'tests/acceptance/bad-input-routes.test.ts',
  'tests/acceptance/console-pages.test.ts',
  'tests/acceptance/docs-page.test.ts',
  'tests/acceptance/registration-links.test.ts',
  'tests/acceptance/scopes.test.ts',
  'tests/acceptance/sizes.test.ts',
  'tests/acceptance/slow-clients.test.ts',
  'tests/acceptance/strangers.test.ts',
  'tests/acceptance/typescript-client.test.ts',
  'tests/installations/ack-by-push.test.ts',
  'tests/installations/apple-sign-in.test.ts',
  'tests/installations/bench-generators.test.ts',
  'tests/installations/client-commands.test.ts',
  'tests/installations/console-features.test.ts',
  'tests/installations/console-web-push.test.ts',
  'tests/installations/few-descriptors.test.ts',
  'tests/installations/mail-headers.test.ts',
  'tests/installations/node-limits.test.ts',
  'tests/installations/ntfy-apprise.test.ts',
  'tests/installations/operator-commands.test.ts',
  'tests/installations/public-listener.test.ts',
  'tests/installations/readme-session.test.ts',
  'tests/installations/reverse-proxy.test.ts',
  'tests/installations/simulate-command.test.ts',
  'tests/installations/typescript-client-package.test.ts',
  'tests/installations/web-push.test.ts',
]);
