// The order of the rooms inside each package: a room imports only those before it.

import { resolveImport, roomOf, type SourceFile } from './sources.ts'

/**
 * The rooms of each package, the lowest first. A room is a folder, or a file beside the folders. Entry files combine
 * rooms and may import all of them.
 */
export const ROOM_ORDER: Readonly<Record<string, readonly string[]>> = {
  sdk: [
    'errors',
    'engines',
    'config',
    'internal',
    'schema',
    'link',
    'wire',
    'disk',
    'query',
    'api',
    'client',
    'sink',
    'source',
    'fieldset',
    'exp-files',
    'delivery',
    'sinks',
    'telemetry',
  ],
  agent: [
    'places',
    'native',
    'processor',
    'sources',
    'sampling',
    'rules',
    'hosting',
    'pipeline',
    'interruptions',
    'devices',
    'infos',
    'pods',
    'hints',
    'traceback',
    'simulated-past',
    'incidents',
    'service',
    'config',
    'prometheus-options',
    'agent-options',
    'agent-routes',
    'added-simulator',
    'look-round',
    'make-service',
    'self',
    'agent',
    'explain',
    'self-test',
    'http',
  ],
  cli: [
    'places',
    'version',
    'log',
    'restart-small',
    'oldest-node',
    'end-with-npx',
    'autoscale',
    'config',
    'manifests',
    'flags',
    'load-for',
    'read-command',
    'commands',
  ],
  'console/server': [
    'places',
    'state-file',
    'outbound',
    'access',
    'agents',
    'params',
    'config',
    'store',
    'prometheus',
    'apps',
    'exporters',
    'scraper',
    'webhooks',
    'troubleshooting',
    'alone',
    'page',
  ],
  'console/web': ['styles', 'format', 'state', 'api', 'components', 'chart', 'devices', 'pages', 'shell', 'app'],
}

/** Exceptions from the order. The list may only shrink: divide the rooms differently instead of adding a pair. */
const REMAINING: readonly string[] = ['console/web: state > api']

const ENTRIES = /(^|\/)(index|config-index|main|[a-z-]+-main)\.tsx?$/

/** Imports against the order, and exceptions that no import needs any more. */
export function findOrderFaults(files: readonly SourceFile[], remaining: readonly string[] = REMAINING): string[] {
  const found = againstOrder(files)
  const fresh = [...found].filter(([pair]) => !remaining.includes(pair))
  const gone = remaining.filter((pair) => !found.has(pair))
  return [
    ...fresh.map(([pair, places]) => `${pair} goes against the order of rooms: ${places.join(', ')}`),
    ...gone.map((pair) => `${pair} is there no more: take it out of the list in scripts/check/rooms.ts`),
  ]
}

/** Every import against the order, as `package: room > room` with the places where it stands. */
function againstOrder(files: readonly SourceFile[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of files) {
    const from = roomOf(file.path)
    if (from === undefined || ENTRIES.test(file.path) || /\.test\.tsx?$|(^|\/)test-[^/]*$/.test(file.path)) continue
    for (const { specifier, line } of file.imports) {
      const path = resolveImport(file, specifier)
      const to = roomOf(path)
      if (to === undefined || to.group !== from.group || to.room === from.room) continue
      const rooms = ROOM_ORDER[from.group] ?? []
      if (!ENTRIES.test(path) && rooms.includes(from.room) && rooms.includes(to.room)) {
        if (rooms.indexOf(to.room) < rooms.indexOf(from.room)) continue
      }
      const pair = `${from.group}: ${from.room} > ${to.room}`
      found.set(pair, [...(found.get(pair) ?? []), `${file.path}:${line}`])
    }
  }
  return found
}
