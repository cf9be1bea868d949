import type { IconName } from '../components/icon.tsx'

/** A page in the navigation. */
export interface NavigationItem {
  readonly path: string
  readonly label: string
  readonly icon: IconName
  /** Further paths that belong to the page but are not below it. */
  readonly parts?: readonly string[]
  /** The key after `g` that goes there. */
  readonly key: string
}

/** The pages, in the order of the rail. */
export const DESTINATIONS: readonly NavigationItem[] = [
  { path: '/', label: 'Node', icon: 'node', parts: ['/entities'], key: 'n' },
  { path: '/gpus', label: 'GPUs', icon: 'gpu', key: 'g' },
  { path: '/apps', label: 'Apps', icon: 'apps', parts: ['/pods'], key: 'a' },
  { path: '/fabric', label: 'Fabric', icon: 'fabric', parts: ['/pci'], key: 'f' },
  { path: '/host', label: 'Host', icon: 'host', key: 'h' },
  { path: '/incidents', label: 'Incidents', icon: 'events', key: 'i' },
  { path: '/explore', label: 'Explorer', icon: 'explorer', key: 'x' },
  { path: '/sources', label: 'Sources', icon: 'sources', parts: ['/explain'], key: 's' },
]

/** The pages in the bar of a small screen, beside More. */
export const IN_BAR: ReadonlySet<string> = new Set(['/', '/apps', '/incidents', '/explore'])

/** Whether a destination is the current page or above it. */
export function isCurrent(destination: NavigationItem, location: string): boolean {
  const paths = [destination.path, ...(destination.parts ?? [])]
  // Every path is below the first destination.
  return (
    (destination.path === '/' ? paths.slice(1) : paths).some(
      (path) => location === path || location.startsWith(`${path}/`),
    ) || location === destination.path
  )
}
