// An agent with a source that misbehaves beside one that does not: `unruly-main.ts MISDEED SAMPLE [TYPE] --listen 127.0.0.1:0`.
import { parseArgs } from 'node:util'
import { checkDataSources, createAgent } from '@sonde/agent'
import { SOURCES } from '../../packages/agent/test/unruly-source.ts'
import { readyLine, serve } from '../../packages/cli/src/commands/run.ts'
import { untilSignal } from '../../packages/cli/src/commands/until-signal.ts'
import { loadConfig } from '../../packages/cli/src/config/load.ts'
import { openLog } from '../../packages/cli/src/log.ts'

const INTERVAL_MS = 50
const CALL_LIMIT_MS = 1000
const FLOOD_BYTES = 1 << 20

const { positionals } = parseArgs({ allowPositionals: true, options: { listen: { type: 'string' } } })
const [misdeed = 'none', at = '1', type = 'unruly'] = positionals
const unruly = SOURCES.find(({ name }) => name === type)
if (unruly === undefined) throw new Error(`no source ${type}`)
const loaded = loadConfig({ flags: [{ path: ['export', 'prometheus', 'port'], value: 0, origin: 'test' }] })
const { agent: config } = loaded.config
const others = checkDataSources([{ type: 'host', parts: ['load'], interval_ms: INTERVAL_MS }])
if (!others.ok) throw new Error(others.issues[0]?.fault)
const agent = createAgent({
  config: {
    ...config,
    limits: { ...config.limits, source_call_ms: CALL_LIMIT_MS, source_flood_bytes: FLOOD_BYTES },
    dataSources: [
      { name: 'unruly', definition: unruly, intervalMs: INTERVAL_MS, options: { misdeed, at: Number(at) } },
      ...others.value,
    ],
  },
  log: openLog('debug'),
  version: 'test',
  sourcesModule: new URL('../../packages/agent/test/unruly-source.ts', import.meta.url).href,
})

async function start() {
  const running = await serve(agent, loaded)
  console.log(await readyLine(agent, running.address, '', 0))
  return running
}

process.exit(await untilSignal(start()))
