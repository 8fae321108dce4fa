import type { TestStack } from './stack.ts';

/**
 * The installation that the environment names, or undefined if `TEST_BASE_URL` is not set.
 *
 * - `TEST_BASE_URL`: address of the installation; several API nodes separated by commas.
 * - `TEST_ADMIN_TOKEN`: its `ADMIN_TOKEN`, to set tiers.
 * - `TEST_EMAIL_DIR`: the directory to which it writes emails (`DATA_DIR/mail` without `SMTP_URL`), to verify accounts.
 *
 * Tests send `X-Forwarded-For`, so that each client has a rate limit of its own: the installation needs
 * `TRUST_PROXY=1`.
 */
export function deployedStack(env: NodeJS.ProcessEnv = process.env): TestStack | undefined {
  const { TEST_BASE_URL: baseUrl, TEST_ADMIN_TOKEN: adminToken, TEST_EMAIL_DIR: emailDir } = env;
  if (baseUrl === undefined) return undefined;
  if (adminToken === undefined || emailDir === undefined)
    throw new Error('TEST_BASE_URL also requires TEST_ADMIN_TOKEN and TEST_EMAIL_DIR: see CONTRIBUTING.md');
  return {
    engine: 'embedded',
    isDeployed: true,
    urls: baseUrl.split(',').map((url) => new URL(url).origin),
    pids: [],
    env: { ADMIN_TOKEN: adminToken },
    emailDir,
  };
}
