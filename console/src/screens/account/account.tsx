import { call } from '../../api/call.ts';
import { Loading } from '../../parts/loading.tsx';
import { useLoad } from '../../parts/use-load.ts';
import { Consent } from './consent.tsx';
import { Logins } from './logins.tsx';
import { Password } from './password.tsx';
import { PersonalData } from './personal-data.tsx';
import { Profile, type Me } from './profile.tsx';

export function Account() {
  const { loaded, reload } = useLoad(() => call<Me>('GET', '/auth/me'), 'me');
  return (
    <div class="page settings-page">
      <h1>Account</h1>
      <Loading loaded={loaded} retry={reload} rows={6}>
        {(me) => (
          <>
            <Profile me={me} onChanged={reload} />
            <Password me={me} />
            <Logins />
            <Consent />
            <PersonalData me={me} />
          </>
        )}
      </Loading>
    </div>
  );
}
