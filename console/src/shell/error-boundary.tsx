import { Component, type ComponentChildren } from 'preact';
import { ErrorState } from '../parts/loading.tsx';

interface ErrorBoundaryProps {
  readonly children: ComponentChildren;
}

/** Shows a bug of a screen as an error that a reload may fix, instead of an empty page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: Error | null }> {
  override state = { error: null };

  static override getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    const error = new Error('The console cannot show this page.');
    return (
      <div class="page">
        <ErrorState error={error} retry={() => Promise.resolve(location.reload())} />
      </div>
    );
  }
}
