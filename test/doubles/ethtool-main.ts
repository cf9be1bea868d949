// An agent with the ethtool source on a double, beside one that reads the host: `ethtool-main.ts LIBRARY SYSFS --listen 127.0.0.1:0`. Its child processes import this file, too.
import { parseArgs } from 'node:util'
import type { SourceDefinition } from '@sonde/agent'
import { ethtoolOf } from '../../packages/agent/src/sources/ethtool/ethtool.ts'

const INTERVAL_MS = 100
const STUCK_MS = 1000

/** What a child looks its source up in. The library of the double comes with the options, since a child knows nothing else. */
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
  const { checkDataSources, createAgent } = await import('@sonde/agent')
  const { readyLine, serve } = await import('../../packages/cli/src/commands/run.ts')
  const { untilSignal } = await import('../../packages/cli/src/commands/until-signal.ts')
  const { loadConfig } = await import('../../packages/cli/src/config/load.ts')
  const { openLog } = await import('../../packages/cli/src/log.ts')

  const { positionals } = parseArgs({ allowPositionals: true, options: { listen: { type: 'string' } } })
  const [library = '', sysfs = ''] = positionals
  const loaded = loadConfig({ flags: [{ path: ['export', 'prometheus', 'port'], value: 0, origin: 'test' }] })
  const { agent: config } = loaded.config
  const own = { devices: [], virtual: false, queues: false, driver_counters: 512, stuck_ms: STUCK_MS }
  const others = checkDataSources([{ type: 'host', parts: ['load'], interval_ms: INTERVAL_MS }])
  if (!others.ok) throw new Error(others.issues[0]?.fault)
  const agent = createAgent({
    config: {
      ...config,
      paths: { ...config.paths, sysfs },
      dataSources: [
        {
          name: 'ethtool',
          definition: SOURCES[0] as SourceDefinition,
          intervalMs: INTERVAL_MS,
          options: { ...own, library },
        },
        ...others.value,
      ],
    },
    log: openLog('debug'),
    version: 'test',
  })
  const start = async () => {
    const running = await serve(agent, loaded)
    console.log(await readyLine(agent, running.address, '', 0))
    return running
  }
  process.exit(await untilSignal(start()))
}
