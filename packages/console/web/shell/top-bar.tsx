import type { NodeAnswer } from '@sonde/sdk/api'
import { Link, useLocation } from 'wouter'
import { useNode } from '../api/resources.ts'
import { logout, useIdentity } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { countText, formatQuantity } from '../format/number.ts'
import { BYTES } from '../format/quantity.ts'
import { scopedNode } from '../state/node-scope.ts'
import { toggleTheme, useTheme } from '../state/theme.ts'
import { usePageState } from '../state/time-window.ts'
import { LiveState } from './live-state.tsx'
import { SimulatedBadge } from './scenarios/simulated-badge.tsx'
import { WindowControl } from './window-control.tsx'

/** Node, simulated badge, live state, window, search and theme. */
export function TopBar({ onSearch, onScenarios }: { readonly onSearch: () => void; readonly onScenarios: () => void }) {
  const { data: node } = useNode()
  const theme = useTheme()
  const [location] = useLocation()
  const page = usePageState()
  return (
    <header className="top-bar">
      <div className="place">
        <span className="place-name">{scopedNode() || (node?.node ?? ' ')}</span>
        {node && <span className="place-hardware">{placeWords(node)}</span>}
        {node?.simulated && <SimulatedBadge onOpen={onScenarios} />}
      </div>
      <LiveState />
      {hasWindow(location, node) && <WindowControl />}
      <button type="button" className="button search-button" onClick={onSearch} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span className="visually-hidden">Search</span>
        <kbd>Ctrl K</kbd>
      </button>
      <User />
      {/* The settings are those of the console, also on the pages of one of its nodes. */}
      {scopedNode() === '' && (
        <Link className="button icon-button" href={page.hrefTo('/settings')} aria-label="Settings" title="Settings">
          <Icon name="settings" />
        </Link>
      )}
      <button
        type="button"
        className="button icon-button"
        onClick={toggleTheme}
        aria-label={theme === 'dark' ? 'Light theme' : 'Dark theme'}
      >
        <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
      </button>
    </header>
  )
}

/** The user of a session, and the way out. */
function User() {
  const identity = useIdentity()
  if (identity?.via !== 'session') return null
  return (
    <button type="button" className="button" onClick={() => void logout()} title={`${identity.name}, ${identity.role}`}>
      Log out
    </button>
  )
}

const WITHOUT_TIME: ReadonlySet<string> = new Set(['/settings', '/troubleshooting'])

/** Whether no window of time changes the page. The list of nodes has charts over a Prometheus only. */
export function isTimeless(location: string, node: NodeAnswer | undefined): boolean {
  return WITHOUT_TIME.has(location) || (location === '/nodes' && !node?.backend)
}

/** Whether the page uses the window. Incidents have their own windows. */
function hasWindow(location: string, node: NodeAnswer | undefined): boolean {
  return !isTimeless(location, node) && !location.startsWith('/incidents/')
}

/** What the server is: a node with its hardware, or a console with its history. */
function placeWords({ backend, nodeCount = 0, hardware }: NodeAnswer): string {
  if (backend === undefined) return hardwareLine(hardware)
  return backend === '' ? `console of ${countText(nodeCount, 'node')}` : backend
}

/** The hardware of the node: GPUs and NICs, else processors and memory. */
function hardwareLine({ gpus, nics, cpuModel, cpuCount, memoryBytes, kernel }: NodeAnswer['hardware']): string {
  const devices = [gpus, nics].filter(Boolean).join(' · ')
  if (devices) return devices
  return [`${cpuCount} × ${cpuModel}`, formatQuantity(BYTES, memoryBytes), `Linux ${kernel}`].join(' · ')
}
