import { Component, type ReactNode } from 'react'
import { copyText } from './copy-button.tsx'
import { Icon } from './icon.tsx'

interface BoundaryState {
  readonly error: Error | undefined
}

/** Keeps the failure of one panel in that panel. */
export class PanelBoundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: undefined }

  static getDerivedStateFromError(error: Error): BoundaryState {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    const details = `${error.name}: ${error.message}\n${error.stack ?? ''}\n${location.href}`
    return (
      <section className="panel panel-failed">
        <Icon name="critical" className="is-critical" />
        <p>
          <strong>This panel failed to draw.</strong> {error.message} The rest of the page works.
        </p>
        <div className="button-row">
          <button type="button" className="button" onClick={() => void copyText(details)}>
            Copy details
          </button>
          <button type="button" className="button" onClick={() => this.setState({ error: undefined })}>
            Retry
          </button>
        </div>
      </section>
    )
  }
}
