// An agent with the ethtool source on a double, beside one that reads the host: `ethtool-main.ts LIBRARY SYSFS --listen
// 127.0.0.1:0`. Its child processes import this file, too.
import type { LibraryDefinition, SourceDefinition } from '@sonde/agent'
import { ethtoolOf } from '../../packages/agent/src/sources/ethtool/ethtool.ts'

const INTERVAL_MS = 100
const STUCK_MS = 1000
const CALL_MS = 1000

/**
 * What a child looks its source up in. The library of the double comes with the options, since a child knows nothing
 * else.
 */
export const SOURCES: readonly SourceDefinition[] = [
  {
    ...ethtoolOf(),
    module: import.meta.url,
    async load() {
      const loaded = await ethtoolOf().load()
      const library = loaded.library as LibraryDefinition
      return {
        ...loaded,
        library: {
          ...library,
          async open(options, paths) {
            const played = await ethtoolOf((options as { readonly library: string }).library).load()
            return played.library?.open(options, paths)
          },
        },
      }
    },
  },
]

if (import.meta.main) {
  const { positionalsOf, serveSource } = await import('../serve-source.ts')
  const [library = '', sysfs = ''] = positionalsOf()
  const options = { devices: [], virtual: false, queues: false, driver_counters: 512, stuck_ms: STUCK_MS, library }
  const definition = SOURCES[0] as SourceDefinition
  await serveSource({
    source: { name: 'ethtool', definition, intervalMs: INTERVAL_MS, options },
    limits: { source_call_ms: CALL_MS },
    paths: { sysfs },
  })
}
