import type { ComponentType } from 'preact';
import { Loading } from '../parts/loading.tsx';
import { useLoad } from '../parts/use-load.ts';

/** A screen that is not part of the first script: it loads when it first appears. */
export function lazyScreen<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Screen: ComponentType<P> | null = null;
  const keep = async () => {
    Screen = await load().catch(() => {
      throw new Error('The console could not load this page. Check your connection and try again.');
    });
  };
  return function LazyScreen(props: P) {
    const { loaded } = useLoad(keep, '');
    if (Screen !== null) return <Screen {...props} />;
    return (
      <div class="page">
        {/* After an update of the server, only a reload finds the new script. */}
        <Loading loaded={loaded} retry={() => Promise.resolve(location.reload())}>
          {() => null}
        </Loading>
      </div>
    );
  };
}
