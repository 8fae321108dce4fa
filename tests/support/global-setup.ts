import type { Stack } from '../../tools/stack/start-stack.ts';
import { deployedStack } from './deployed-stack.ts';
import { startOwnStack } from './own-stack.ts';

/**
 * The configuration of the shared stack. Each test client has its own address by `X-Forwarded-For`. Nothing
 * listens at the push address: no test of this stack may reach a real provider.
 */
const env = {
  TRUST_PROXY: '1',
  ADMIN_TOKEN: 'the-operator-of-the-tests',
  LOG_LEVEL: 'info',
  EXPO_URL: 'http://127.0.0.1:9',
  ERASURE_SETTLE_SECONDS: '10',
  // Receivers of sinks in tests.
  SINKS_ALLOW_HTTP: 'on',
  SINKS_ALLOW_ADDRESSES: '127.0.0.1',
};

/** Starts the stack that all acceptance files share, or uses the deployed installation that `TEST_BASE_URL` names. */
export default async function globalSetup(): Promise<void> {
  const deployed = deployedStack();
  if (deployed !== undefined) {
    process.env['TOCSIN_TEST_STACK'] = JSON.stringify(deployed);
    return;
  }
  const stack = await startOwnStack(env, 'nodes');
  process.env['TOCSIN_TEST_STACK'] = JSON.stringify({
    engine: stack.engine,
    urls: stack.urls,
    pids: stack.apiPids(),
    env: stack.env,
  });
  (globalThis as { tocsinStack?: Stack }).tocsinStack = stack;
}
