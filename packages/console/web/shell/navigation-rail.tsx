import type { NodeAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { type DeviceInfo, useDevices } from '../api/devices.ts'
import { OPEN_INCIDENTS, useIncidents } from '../api/incidents.ts'
import { useNode } from '../api/resources.ts'
import { useToldSecond } from '../api/stale.ts'
import { Icon, Logo } from '../components/icon.tsx'
import { countText, groupThousands } from '../format/number.ts'
import { formatAge } from '../format/time.ts'
import { scopedNode } from '../state/node-scope.ts'
import { usePageState } from '../state/time-window.ts'
import { MoreSheet } from './more-sheet.tsx'
import { DESTINATIONS, IN_BAR, isCurrent } from './navigation.ts'

/** The navigation: a rail at the left, icons alone on middling screens, a bar at the bottom of small ones. */
export function NavigationRail({ onKeys }: { readonly onKeys: () => void }) {
  const page = usePageState()
  const [location] = useLocation()
  const { data: node } = useNode()
  const { data: devices } = useDevices()
  const openCount = useIncidents(OPEN_INCIDENTS).data?.openCount ?? 0
  const [isMore, setMore] = useState(false)
  const destinations = destinationsOf(node)
  const further = destinations.filter(({ path }) => !IN_BAR.has(path))
  const isFurther = location === '/nodes' || further.some((destination) => isCurrent(destination, location))
  return (
    <nav className="rail" aria-label="Pages">
      <Link className="rail-brand" href={page.hrefTo('/')} aria-label="Sonde, to the node">
        <Logo />
        <span>Sonde</span>
      </Link>
      <ul className="rail-list">
        <NodesItem node={node} />
        {destinations.map((destination) => {
          const counted = countedOf(destination.path, devices?.devices, interfacesOf(node))
          const current = isCurrent(destination, location)
          return (
            <li key={destination.path} className={IN_BAR.has(destination.path) ? '' : 'is-further'}>
              <Link
                className="rail-item"
                href={page.hrefTo(destination.path)}
                aria-current={current ? 'page' : undefined}
              >
                <Icon name={destination.icon} />
                <span className="rail-name">{destination.label}</span>
                {destination.path === '/incidents' && openCount > 0 && (
                  <span className="rail-count is-open num">
                    {openCount}
                    <span className="visually-hidden"> open</span>
                  </span>
                )}
                {counted && (
                  <span className="rail-count num">
                    {counted.count}
                    <span className="visually-hidden"> {counted.noun}</span>
                  </span>
                )}
              </Link>
            </li>
          )
        })}
        {further.length > 0 && (
          <li className="rail-more">
            <button
              type="button"
              className="rail-item"
              aria-haspopup="dialog"
              aria-current={isFurther ? 'page' : undefined}
              onClick={() => setMore(true)}
            >
              <Icon name="more" />
              <span className="rail-name">More</span>
            </button>
          </li>
        )}
      </ul>
      {isMore && <MoreSheet destinations={further} hasNodes={hasNodes(node)} onClose={() => setMore(false)} />}
      <button type="button" className="rail-item rail-keys" onClick={onKeys} aria-keyshortcuts="?">
        <Icon name="keyboard" />
        <span className="rail-name">Keys</span>
        <kbd className="rail-count">?</kbd>
      </button>
      <RailFoot />
    </nav>
  )
}

/** The way to all nodes of a console, which is loaded anew: the pages of one node ask that node. */
function NodesItem({ node }: { readonly node: NodeAnswer | undefined }) {
  const [location] = useLocation()
  if (!hasNodes(node)) return null
  return (
    <li className={node?.backend === '' ? '' : 'is-further'}>
      <a className="rail-item" href="/nodes" aria-current={location === '/nodes' ? 'page' : undefined}>
        <Icon name="nodes" />
        <span className="rail-name">Nodes</span>
        {node?.nodeCount !== undefined && (
          <span className="rail-count num">
            {node.nodeCount}
            <span className="visually-hidden"> nodes</span>
          </span>
        )}
      </a>
    </li>
  )
}

/** Whether the console has pages of several nodes. */
function hasNodes(node: NodeAnswer | undefined): boolean {
  return scopedNode() !== '' || node?.nodeCount !== undefined || Boolean(node?.backend)
}

/** A console without a history has pages of its nodes alone. */
function destinationsOf(node: NodeAnswer | undefined): typeof DESTINATIONS {
  return node?.backend === '' ? [] : DESTINATIONS
}

/** A console without an agent knows no interfaces. */
function interfacesOf(node: NodeAnswer | undefined): number | undefined {
  return node?.backend === undefined ? node?.hardware.interfaceCount : undefined
}

/** The count beside the name of a page. */
function countedOf(
  path: string,
  devices: readonly DeviceInfo[] = [],
  interfaceCount: number | undefined,
): { readonly count: number; readonly noun: string } | undefined {
  const countOfKind = (kind: DeviceInfo['kind']): number => devices.filter((device) => device.kind === kind).length
  if (path === '/gpus') return countOfKind('gpu') > 0 ? { count: countOfKind('gpu'), noun: 'GPUs' } : undefined
  if (path !== '/fabric') return undefined
  if (countOfKind('nic') > 0) return { count: countOfKind('nic'), noun: 'NICs' }
  return interfaceCount ? { count: interfaceCount, noun: 'interfaces' } : undefined
}

/** Whole minutes, then whole hours. The footer has no space for more. */
function formatUptime(ageMs: number): string {
  const resolutionMs = ageMs < 60_000 ? 1 : ageMs < 3_600_000 ? 60_000 : 3_600_000
  return formatAge(Math.floor(ageMs / resolutionMs) * resolutionMs)
}

function RailFoot() {
  const { data: node } = useNode()
  const nowMs = useToldSecond()
  if (!node) return <div className="rail-foot" />
  return (
    <div className="rail-foot">
      <p>
        Sonde {node.version} · up <span className="num">{formatUptime(nowMs - node.startedMs)}</span>
      </p>
      {node.backend === undefined ? (
        <p>
          <span className="num">{countText(node.seriesCount, 'series', 'series')}</span> ·{' '}
          <span className={node.recordsLost > 0 ? 'num is-warning' : 'num'}>
            {groupThousands(String(node.recordsLost))} lost
          </span>
        </p>
      ) : (
        <p>{node.backend === '' ? 'a console of several nodes' : 'over a Prometheus, without an agent'}</p>
      )}
    </div>
  )
}
