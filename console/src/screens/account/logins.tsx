import { call } from '../../api/call.ts';
import type { Login } from '../../api/wire.ts';
import { Section } from '../../parts/card.tsx';
import { deviceName } from '../../parts/device-name.ts';
import { Loading } from '../../parts/loading.tsx';
import { timeAgo } from '../../parts/time/times.ts';
import { toast, toastError } from '../../parts/toasts.tsx';
import { useLoad } from '../../parts/use-load.ts';

export function Logins() {
  const { loaded, reload } = useLoad(() => call<Login[]>('GET', '/auth/sessions'), 'logins');
  const end = async (path: string, text: string) => {
    try {
      await call('DELETE', path);
      toast(text);
      await reload();
    } catch (error) {
      toastError(error);
    }
  };
  const endOthers = () => void end('/auth/sessions?keep_current=true', 'All other logins have ended.');
  return (
    <Section
      title="Logins"
      aside={
        <button type="button" class="button" onClick={endOthers}>
          End all others
        </button>
      }
    >
      <Loading loaded={loaded} retry={reload} rows={2}>
        {(logins) => (
          <ul class="rows">
            {logins.map((login) => (
              <li key={login.id}>
                <div class="grow">
                  <div dir="auto">{deviceName(login.user_agent)}</div>
                  <div class="soft">
                    {login.address ?? 'unknown address'} · active {timeAgo(login.last_refreshed_at)}
                  </div>
                </div>
                {login.is_current ? (
                  <span class="badge sent">this login</span>
                ) : (
                  <button
                    type="button"
                    class="button"
                    aria-label={`End the login of ${deviceName(login.user_agent)}`}
                    onClick={() => void end(`/auth/sessions/${login.id}`, 'The login has ended.')}
                  >
                    End
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loading>
    </Section>
  );
}
