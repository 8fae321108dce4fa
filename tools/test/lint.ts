import { spawnSync } from 'node:child_process';

// The `lint` part runs the same checks as `npm run lint`.
const { status } = spawnSync('npm', ['run', '--silent', 'lint'], { stdio: 'inherit' });
process.exitCode = status ?? 1;
