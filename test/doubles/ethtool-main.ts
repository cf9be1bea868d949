// An agent with the ethtool source on a double, beside one that reads the host: `ethtool-main.ts LIBRARY SYSFS --listen
// 127.0.0.1:0`. Its child processes import this file, too.
import type { SourceDefinition } from '@sonde/agent'
import { ethtoolOf } from '../../packages/agent/src/sources/ethtool/ethtool.ts'

const INTERVAL_MS = 100
const STUCK_MS = 1000

/**
 * What a child looks its source up in. The library of the double comes with the options, since a child knows nothing
 * else.
 */
export const SOURCES: readonly SourceDefinition[] = [
  {
    ...ethtoolOf(),
    module: import.meta.url,
    create(options, context) {
      const { library, ...rest } = options as { readonly library: string }
      return ethtoolOf(library).create(rest, context)
    },
  },
]

if (import.meta.main) {
  const { positionalsOf, serveSource } = await import('../serve-source.ts')
  const [library = '', sysfs = ''] = positionalsOf()
  const options = { devices: [], virtual: false, queues: false, driver_counters: 512, stuck_ms: STUCK_MS, library }
  const definition = SOURCES[0] as SourceDefinition
  await serveSource({ source: { name: 'ethtool', definition, intervalMs: INTERVAL_MS, options }, paths: { sysfs } })
}
