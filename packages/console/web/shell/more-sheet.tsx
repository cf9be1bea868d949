import { Link, useLocation } from 'wouter'
import { Dialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { usePageState } from '../state/time-window.ts'
import { isCurrent, type NavigationItem } from './navigation.ts'

/** The pages that the bar of a small screen has no room for. */
export function MoreSheet({
  destinations,
  hasNodes,
  onClose,
}: {
  readonly destinations: readonly NavigationItem[]
  /** Whether the console has other nodes. */
  readonly hasNodes: boolean
  readonly onClose: () => void
}) {
  const page = usePageState()
  const [location] = useLocation()
  return (
    <Dialog label="More pages" className="more-sheet" onClose={onClose}>
      <ul>
        {hasNodes && (
          <li>
            <a className="more-item" href="/nodes">
              <Icon name="nodes" /> Nodes
            </a>
          </li>
        )}
        {destinations.map((destination) => (
          <li key={destination.path}>
            <Link
              className="more-item"
              href={page.hrefTo(destination.path)}
              aria-current={isCurrent(destination, location) ? 'page' : undefined}
              onClick={onClose}
            >
              <Icon name={destination.icon} /> {destination.label}
            </Link>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
