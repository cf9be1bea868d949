import { Icon } from './icon.tsx'

/** Something that is wrong with the page or its server. */
export interface Notice {
  readonly id: string
  readonly tone: 'critical' | 'warning' | 'info' | 'stale'
  /** The fact, in bold, with its full stop. */
  readonly fact: string
  /** Cause and effect. */
  readonly detail?: string
  readonly action?: { readonly label: string; readonly run: () => void }
}

const RANK: Readonly<Record<Notice['tone'], number>> = { critical: 0, warning: 1, stale: 2, info: 3 }

/** The worst notice, and how many more there are. Never over data. */
export function Banner({ notices }: { readonly notices: readonly Notice[] }) {
  const sorted = [...notices].sort((a, b) => RANK[a.tone] - RANK[b.tone])
  const worst = sorted[0]
  return (
    <div className="banner-place" aria-live="polite">
      {worst && (
        <div className={`banner is-${worst.tone}`}>
          <Icon name={worst.tone} />
          <p>
            <strong>{worst.fact}</strong> {worst.detail}
            {sorted.length > 1 && <span className="banner-more"> And {sorted.length - 1} more.</span>}
          </p>
          {worst.action && (
            <button type="button" className="button" onClick={worst.action.run}>
              {worst.action.label}
            </button>
          )}
        </div>
      )}
    </div>
  )
}
